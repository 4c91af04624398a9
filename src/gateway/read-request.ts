import { readJsonBody } from '../http/body.ts';
import { checkChatRequest, dropEmptyFields, refuseInfinite, refuseWideSeed } from '../openai/check-request.ts';
import { parseExact } from '../openai/parse-exact.ts';
import { RequestText } from '../openai/request-text.ts';
import type { ChatRequest, JsonObject } from '../openai/types.ts';
import { takeRoom } from './body-room.ts';
import type { Call, Gate } from './gate.ts';
import { countHops } from './hops.ts';

/** A validated request and the size that it arrived with. */
export interface ReadRequest {
  readonly chat: ChatRequest;
  readonly bodyBytes: number;
  /** As the caller wrote it, where that is of use. */
  readonly source: RequestText | undefined;
}

/**
 * Reads and validates the body. Only the parsed value counts from here on: where a body says something twice, its text is not
 * used any more, so that what is checked, priced and sent is the same.
 */
export async function readRequest(request: Request, call: Call, { calls }: Pick<Gate, 'calls'>): Promise<ReadRequest> {
  countHops(request, call);
  const { text, bytes, layout, value } = await readJsonBody(request, (length) => takeRoom(call, length, calls));
  call.body = value;
  const source = RequestText.of(text, layout, value);
  const chat = checkChatRequest(value);
  if (layout.hasExponent || layout.hasWideNumber) refuseInfinite(chat);
  return { chat: layout.hasWideNumber ? readExactly(text) : chat, bodyBytes: bytes, source };
}

/** Integers beyond 2^53, such as 64-bit seeds, keep their digits as they were written. The body was checked before. */
function readExactly(text: string): ChatRequest {
  const chat = dropEmptyFields(parseExact(text) as JsonObject);
  refuseWideSeed(chat);
  return chat;
}
