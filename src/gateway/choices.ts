import type { Model } from '../catalog/catalog.ts';
import type { ProviderConfig } from '../config.ts';
import type { ChatRequest } from '../openai/types.ts';
import { DIALECTS } from '../providers/dialects.ts';
import type { Gate } from './gate.ts';

/** Whether several choices are wanted of a provider that gives one: then it is asked several times. */
export function isAskedApart(chat: ChatRequest, { dialect, host }: ProviderConfig): boolean {
  return (chat.n ?? 1) > 1 && (DIALECTS[dialect].givesChoices !== true || host?.request?.isSingleChoice === true);
}

/** How often the input is read at most, whichever route answers: money is held before that is known. */
export function promptsAtMost({ config }: Gate, { model, chat }: { readonly model: Model; readonly chat: ChatRequest }): number {
  const { n = 1 } = chat;
  if (n === 1) return 1;
  const isApart = model.routes.some((route) => {
    const provider = config.providers.get(route.provider);
    return provider !== undefined && isAskedApart(chat, provider);
  });
  return isApart ? n : 1;
}
