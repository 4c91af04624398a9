import { readJsonBody } from '../http/body.ts';
import { checkChatRequest, dropEmptyFields } from '../openai/check-request.ts';
import type { ChatRequest, JsonObject } from '../openai/types.ts';

/** A validated request and the size that it arrived with. */
export interface ReadRequest {
  readonly chat: ChatRequest;
  readonly bodyBytes: number;
}

/** Sixteen digits are where a number may stop being exact. */
const WIDE_NUMBER = /\d{16}/;

/**
 * Reads and validates the body. Only the parsed value is used from here on, never the text: where a body says something
 * twice, what is checked, priced and sent is the same one.
 */
export async function readRequest(request: Request): Promise<ReadRequest> {
  const { text, bytes, value } = await readJsonBody(request);
  const chat = checkChatRequest(value);
  return { chat: WIDE_NUMBER.test(text) ? dropEmptyFields(parseExactly(text)) : chat, bodyBytes: bytes };
}

/** Integers beyond 2^53, such as 64-bit seeds, keep their digits as they were written. The body was checked before. */
function parseExactly(text: string): JsonObject {
  return JSON.parse(text, keepDigits as never) as JsonObject;
}

function keepDigits(_: string, value: unknown, context: { readonly source: string }): unknown {
  return typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context.source) ? rawJson(context.source) : value;
}

/** Part of the language since 2025, and not yet in TypeScript's library. */
function rawJson(source: string): unknown {
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(source);
}
