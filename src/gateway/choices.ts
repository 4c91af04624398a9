import type { Model } from '../catalog/catalog.ts';
import type { ProviderConfig } from '../config.ts';
import type { ChatRequest } from '../openai/types.ts';
import { DIALECTS } from '../providers/dialects.ts';
import type { Gate } from './gate.ts';

/** Whether several choices are wanted from a provider that returns only one. The provider is then asked several times. */
export function needsFanOut(chat: ChatRequest, { dialect, host }: ProviderConfig): boolean {
  return (chat.n ?? 1) > 1 && (DIALECTS[dialect].givesChoices !== true || host?.request?.isSingleChoice === true);
}

/** Returns how many times the input is read at most, whichever route answers: money is held before the route is known. */
export function promptsAtMost({ config }: Gate, { model, chat }: { readonly model: Model; readonly chat: ChatRequest }): number {
  const { n = 1 } = chat;
  if (n === 1) return 1;
  const fansOut = model.routes.some((route) => {
    const provider = config.providers.get(route.provider);
    return provider !== undefined && needsFanOut(chat, provider);
  });
  return fansOut ? n : 1;
}
