import { Buffer } from 'node:buffer';
import { seedRandom } from './random.ts';
import { frame, type Recorded } from './recorded.ts';
import type { ChatRequest, JsonObject, Reply } from './wire.ts';
import { completionBody, completionChunks, composeReply, countUsage, errorBody } from './wire.ts';

/** What the simulated provider does with one request. Only `answer` and the framing types are those of a healthy provider. */
export type Behaviour =
  /** `usage` is sent in place of the real counts. Some providers send `null` when they did not count. */
  | { readonly type: 'answer'; readonly text?: string; readonly cachedTokens?: number; readonly usage?: unknown; readonly gapMs?: number }
  | { readonly type: 'recorded'; readonly reply: Recorded }
  | { readonly type: 'status'; readonly status: number; readonly body: unknown; readonly headers?: Headers }
  | { readonly type: 'error_in_200' }
  | { readonly type: 'error_event'; readonly chunks: number }
  | { readonly type: 'cut'; readonly moment: Moment }
  | { readonly type: 'hang'; readonly moment: Moment }
  | { readonly type: 'pace'; readonly gapMs: number }
  | { readonly type: 'garbage'; readonly content: Garbage; readonly chunks: number }
  | { readonly type: 'endless_line'; readonly bytes: number; readonly chunks: number }
  | { readonly type: 'usage'; readonly value: OddUsage }
  | { readonly type: 'no_done' }
  | { readonly type: 'framing'; readonly style: 'crlf' | 'comments' | 'one_write'; readonly gapMs?: number }
  | { readonly type: 'random_cuts'; readonly seed: number }
  | { readonly type: 'huge'; readonly bytes: number };

/** A point in a reply. `chunks` counts SSE events or, for a JSON reply, the halves of its body. */
type Moment =
  | { readonly at: 'before_headers' }
  | { readonly at: 'after_headers' }
  | { readonly at: 'after_chunks'; readonly chunks: number }
  | { readonly at: 'mid_event'; readonly chunks: number };

type Headers = Readonly<Record<string, string>>;
type Garbage = 'html' | 'invalid_json' | 'invalid_utf8';
type OddUsage = 'missing' | 'bare' | 'zero' | 'negative' | 'enormous' | 'text' | 'on_finish_chunk' | 'on_every_chunk';

/** A reply laid out as bytes: what follows the status line, piece by piece, and where it stops. */
export interface Plan {
  readonly status: number;
  readonly headers: Headers;
  /** Each piece is one write to the socket. A generator, so that a huge reply is never held as a whole. */
  readonly pieces: Iterable<Uint8Array>;
  readonly gapMs: number;
  readonly fault: { readonly type: 'cut' | 'hang'; readonly moment: Moment } | undefined;
  /** The token counts on the provider's invoice. */
  readonly usage: unknown;
}

/** What the simulated model says by default: one token per word, some of them not ASCII. */
export const ANSWER_TEXT = 'Hello! This is the simulator: naïve words, ☕ and 漢字, one at a time.';
const WORD_BYTES = 4096;
const NOT_UTF8 = Uint8Array.of(0xff, 0xfe, 0xc3, 0x28, 0xe2, 0x82);
const OVERLOADED = errorBody({
  message: 'The server is currently overloaded with other requests.',
  type: 'server_error',
  code: 'server_is_overloaded',
});

/** Lays out the reply to one request. */
export function planReply(behaviour: Behaviour, request: ChatRequest, id: string): Plan {
  const headers = contentType(behaviour, request);
  const usual = { status: 200, headers, gapMs: 0, fault: undefined, usage: undefined };
  if (behaviour.type === 'status') {
    const body = typeof behaviour.body === 'string' ? encode(behaviour.body) : encodeJson(behaviour.body);
    return { ...usual, status: behaviour.status, headers: { ...headers, ...behaviour.headers }, pieces: [body] };
  }
  if (behaviour.type === 'recorded') return { ...usual, ...planRecorded(behaviour.reply, request, headers) };
  if (behaviour.type === 'garbage' || behaviour.type === 'endless_line') {
    return { ...usual, pieces: brokenPieces(behaviour, request, id) };
  }
  if (behaviour.type === 'error_in_200') {
    return { ...usual, pieces: [request.isStreaming ? encodeEvent(OVERLOADED) : encodeJson(OVERLOADED)] };
  }
  return {
    ...usual,
    gapMs: 'gapMs' in behaviour ? (behaviour.gapMs ?? 0) : 0,
    fault: behaviour.type === 'cut' || behaviour.type === 'hang' ? behaviour : undefined,
    ...healthyReply(behaviour, request, id),
  };
}

function planRecorded(reply: Recorded, request: ChatRequest, headers: Headers): Pick<Plan, 'status' | 'headers' | 'pieces'> {
  const { status = 200, body, events } = reply;
  const isStream = request.isStreaming && status === 200;
  return {
    status,
    headers: { ...headers, ...(isStream ? {} : { 'content-type': 'application/json' }), ...reply.headers },
    pieces: isStream ? frame('chat', events) : [encode(body)],
  };
}

function healthyReply(behaviour: Behaviour, request: ChatRequest, id: string): Pick<Plan, 'pieces' | 'usage'> {
  const reply = replyFor(behaviour, request, id);
  if (!request.isStreaming) return { pieces: halves(encodeJson(completionBody(reply))), usage: reply.usage };
  const events = streamEvents(behaviour, request, reply);
  if (behaviour.type === 'random_cuts') return { pieces: cutRandomly(events, behaviour.seed), usage: reply.usage };
  const isOneWrite = behaviour.type === 'framing' && behaviour.style === 'one_write';
  return { pieces: isOneWrite ? [Buffer.concat(events)] : events, usage: reply.usage };
}

function replyFor(behaviour: Behaviour, request: ChatRequest, id: string): Reply {
  const isAnswer = behaviour.type === 'answer';
  const text = isAnswer ? behaviour.text : behaviour.type === 'huge' ? hugeText(behaviour.bytes) : undefined;
  const cachedTokens = isAnswer ? (behaviour.cachedTokens ?? 0) : 0;
  const reply = composeReply(request, { id, text: text ?? ANSWER_TEXT, cachedTokens });
  if (isAnswer && behaviour.usage !== undefined) return { ...reply, usage: behaviour.usage };
  if (behaviour.type !== 'usage') return reply;
  const usage = oddUsage(behaviour.value, reply.usage);
  return { ...reply, usage };
}

function oddUsage(value: OddUsage, honest: unknown): unknown {
  switch (value) {
    case 'missing':
      return undefined;
    case 'bare':
      return { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 };
    case 'zero':
      return countUsage({ prompt: 0, cached: 0, completion: 0 });
    case 'negative':
      return countUsage({ prompt: -1000, cached: 0, completion: -1000 });
    case 'enormous':
      return countUsage({ prompt: 1e300, cached: 0, completion: 1e300 });
    case 'text':
      return { prompt_tokens: '12', completion_tokens: 'many', total_tokens: {} };
    case 'on_finish_chunk':
    case 'on_every_chunk':
      return honest;
  }
}

function streamEvents(behaviour: Behaviour, request: ChatRequest, reply: Reply): Uint8Array[] {
  const chunks = placeUsage(behaviour, completionChunks(reply, request), reply);
  if (behaviour.type === 'error_event') {
    return [...chunks.slice(0, behaviour.chunks), OVERLOADED].map((chunk) => encodeEvent(chunk));
  }
  const isCrlf = behaviour.type === 'framing' && behaviour.style === 'crlf';
  const newline = isCrlf ? '\r\n' : '\n';
  const events = chunks.map((chunk) => encodeEvent(chunk, newline));
  if (behaviour.type !== 'no_done') events.push(encode(`data: [DONE]${newline}${newline}`));
  const isCommented = behaviour.type === 'framing' && behaviour.style === 'comments';
  return isCommented ? events.flatMap((event) => [encode(': PROVIDER PROCESSING\n\n'), event]) : events;
}

/** Some providers put the usage on the final chunk, some on every chunk, and some leave it out. */
function placeUsage(behaviour: Behaviour, chunks: readonly JsonObject[], reply: Reply): readonly JsonObject[] {
  if (behaviour.type !== 'usage') return chunks;
  if (behaviour.value === 'on_every_chunk') return chunks.map((chunk) => ({ ...chunk, usage: reply.usage }));
  const withChoices = chunks.filter((chunk) => Array.isArray(chunk['choices']) && chunk['choices'].length > 0);
  if (behaviour.value === 'missing') return withChoices;
  if (behaviour.value !== 'on_finish_chunk') return chunks;
  return [...withChoices.slice(0, -1), { ...withChoices.at(-1), usage: reply.usage }];
}

function* brokenPieces(
  behaviour: Extract<Behaviour, { type: 'garbage' | 'endless_line' }>,
  request: ChatRequest,
  id: string,
): Generator<Uint8Array> {
  const healthy = streamEvents({ type: 'answer' }, request, replyFor({ type: 'answer' }, request, id));
  if (request.isStreaming) yield* healthy.slice(0, behaviour.chunks);
  if (behaviour.type === 'garbage') {
    yield garbageBytes(behaviour.content, request);
    return;
  }
  yield encode(`${request.isStreaming ? 'data: ' : ''}{"id":"`);
  const filler = encode('a'.repeat(WORD_BYTES));
  for (let sent = 0; sent < behaviour.bytes; sent += WORD_BYTES) yield filler;
}

function garbageBytes(content: Garbage, request: ChatRequest): Uint8Array {
  if (content === 'html') return encode('<!doctype html><html><body><h1>Bad gateway</h1></body></html>');
  const body = content === 'invalid_json' ? encode('{"id": "chatcmpl-1", "choices": [}') : NOT_UTF8;
  return request.isStreaming ? Buffer.concat([encode('data: '), body, encode('\n\n')]) : body;
}

function contentType(behaviour: Behaviour, request: ChatRequest): Headers {
  if (behaviour.type === 'garbage' && behaviour.content === 'html') return { 'content-type': 'text/html' };
  const isStream = request.isStreaming && behaviour.type !== 'status';
  return { 'content-type': isStream ? 'text/event-stream; charset=utf-8' : 'application/json' };
}

function hugeText(bytes: number): string {
  return Array.from({ length: Math.ceil(bytes / WORD_BYTES) }, () => ` ${'a'.repeat(WORD_BYTES - 1)}`).join('');
}

function* cutRandomly(events: readonly Uint8Array[], seed: number): Generator<Uint8Array> {
  const random = seedRandom(seed);
  const bytes = Buffer.concat(events);
  for (let start = 0; start < bytes.length;) {
    const end = start + 1 + random.below(40);
    yield bytes.subarray(start, end);
    start = end;
  }
}

function halves(bytes: Uint8Array): Uint8Array[] {
  const middle = Math.ceil(bytes.length / 2);
  return [bytes.subarray(0, middle), bytes.subarray(middle)];
}

function encodeEvent(payload: JsonObject, newline = '\n'): Uint8Array {
  return encode(`data: ${JSON.stringify(payload)}${newline}${newline}`);
}

function encodeJson(value: unknown): Uint8Array {
  return encode(JSON.stringify(value));
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
