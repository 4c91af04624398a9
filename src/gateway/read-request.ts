import { readJsonBody, type JsonBody } from '../http/body.ts';
import type { Incoming } from '../http/incoming.ts';
import { checkChatRequest, normaliseFields, refuseInfinite, refuseWideSeed } from '../openai/check-request.ts';
import { nestFlatTools } from '../openai/flat-tools.ts';
import { parseExact } from '../openai/parse-exact.ts';
import { RequestText } from '../openai/request-text.ts';
import type { ChatRequest, JsonObject } from '../openai/types.ts';
import { holdBody } from './body-memory.ts';
import type { Call } from './call.ts';
import type { Gate } from './gate.ts';
import { countHops } from './hops.ts';

/** A validated request, and the size of the body it arrived in. */
export interface ReadRequest {
  readonly chat: ChatRequest;
  readonly bodyBytes: number;
  /** The body as the client wrote it, where it can be reused. */
  readonly source: RequestText | undefined;
}

/**
 * Reads and validates the body, at once where it has arrived. From here on only the parsed value counts: the text of a body that names a
 * field twice is not reused, so the same values are checked, priced and sent.
 */
export function readRequest(request: Incoming, call: Call, { held }: Pick<Gate, 'held'>): ReadRequest | Promise<ReadRequest> {
  countHops(request, call);
  const body = readJsonBody(request, (length) => holdBody(call, length - call.heldBytes, held));
  return body instanceof Promise ? validateLater(body, call) : validate(body, call);
}

async function validateLater(body: Promise<JsonBody>, call: Call): Promise<ReadRequest> {
  return validate(await body, call);
}

function validate({ text, bytes, layout, value }: JsonBody, call: Call): ReadRequest {
  call.body = value;
  const source = RequestText.of(text, layout, value);
  const chat = checkChatRequest(value);
  if (!layout.hasExponent && !layout.hasWideNumber) return { chat, bodyBytes: bytes, source };
  refuseInfinite(chat);
  const exact = layout.hasWideNumber ? readExactly(text) : chat;
  refuseWideSeed(exact);
  return { chat: exact, bodyBytes: bytes, source };
}

/** Parses the body again so that integers beyond 2^53, such as 64-bit seeds, keep their digits. The body was validated before. */
function readExactly(text: string): ChatRequest {
  return normaliseFields(nestFlatTools(parseExact(text) as JsonObject));
}
