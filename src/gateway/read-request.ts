import { readJsonBody } from '../http/body.ts';
import { checkChatRequest } from '../openai/check-request.ts';
import { isObject, type ChatRequest } from '../openai/types.ts';

/** A validated request and the size that it arrived with. */
export interface ReadRequest {
  readonly chat: ChatRequest;
  readonly bodyBytes: number;
}

/**
 * Reads and validates the body. Only the parsed value is used from here on, never the text: where a body says something
 * twice, what is checked, priced and sent is the same one.
 */
export async function readRequest(request: Request): Promise<ReadRequest> {
  const { text, bytes, value } = await readJsonBody(request);
  const chat = checkChatRequest(value);
  const { seed } = chat;
  const isExact = typeof seed !== 'number' || Number.isSafeInteger(seed);
  return { chat: isExact ? chat : { ...chat, seed: exactSeed(text) }, bodyBytes: bytes };
}

/** Seeds are 64-bit integers, wider than a number: this one keeps its digits as they were written. */
function exactSeed(text: string): unknown {
  const body: unknown = JSON.parse(text, keepSeedDigits as never);
  return isObject(body) ? body['seed'] : undefined;
}

function keepSeedDigits(name: string, value: unknown, context: { readonly source: string }): unknown {
  return name === 'seed' && typeof value === 'number' ? rawJson(context.source) : value;
}

/** Part of the language since 2025, and not yet in TypeScript's library. */
function rawJson(source: string): unknown {
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(source);
}
