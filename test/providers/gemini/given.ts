import type { ChatRequest, JsonObject } from '../../../src/openai/types.ts';
import { gemini, geminiVertex } from '../../../src/providers/gemini/gemini.ts';
import type { ReplyContext, Target } from '../../../src/providers/dialect.ts';

/** Shared by the tests of the dialect: a request, its target, and the context for its answer. */

export const USER = { role: 'user', content: 'Hi' };
export const CHAT: ChatRequest = { model: 'gemini/x', messages: [USER] };
export const TARGET: Target = {
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  apiKey: 'AIza-1',
  model: 'gemini-3.1-pro-preview',
  outputTokensMax: undefined,
};
export const CONTEXT: ReplyContext = {
  modelId: 'gemini/x',
  providerModel: TARGET.model,
  wantsUsage: false,
  chat: CHAT,
  requestId: 'req_1',
  createdSeconds: 1_790_000_000,
};

/** Returns the encoded body of a request, and the dropped fields. */
export function encode(chat: Partial<ChatRequest>, target: Partial<Target> & { isVertex?: boolean } = {}): Encoded {
  const { isVertex, ...rest } = target;
  const request = (isVertex === true ? geminiVertex : gemini).encodeRequest({ ...CHAT, ...chat }, { ...TARGET, ...rest });
  return { body: JSON.parse(request.body) as JsonObject, dropped: request.dropped ?? [] };
}

interface Encoded {
  readonly body: JsonObject;
  readonly dropped: readonly string[];
}
