import { encodeEvent, encodeException } from './aws-wire.ts';
import type { JsonObject } from './wire.ts';

/** An answer that is given as it stands: the body of a whole one, and the events of a stream. */
export interface Recorded {
  /** What it comes with instead of 200; then the body is sent to streaming callers as well. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
  readonly events: readonly JsonObject[];
}

/** How a dialect cuts a stream into events. */
export type Framing = 'chat' | 'messages' | 'generate-content' | 'converse';

/** The recorded answer as the dialect sends it, each piece one write. */
export function respond(recorded: Recorded, framing: Framing, isStreaming: boolean): Response {
  const { status = 200, headers = {}, body, events } = recorded;
  if (!isStreaming || status !== 200) return new Response(body, { status, headers: { 'content-type': 'application/json', ...headers } });
  return new Response(streamOf(frame(framing, events)), { headers: { 'content-type': CONTENT_TYPES[framing], ...headers } });
}

/** The events as bytes. */
export function frame(framing: Framing, events: readonly JsonObject[]): Uint8Array[] {
  const isFailed = events.some((event) => 'error' in event);
  // A stream that ended with an error does not say that it is done.
  const end = framing === 'chat' && !isFailed ? [encode('data: [DONE]\n\n')] : [];
  return [...events.map((event) => FRAMES[framing](event)), ...end];
}

/** A body that is written piece by piece. */
export function streamOf(pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async start(controller) {
      for (const piece of pieces) {
        controller.enqueue(piece);
        await Bun.sleep(0);
      }
      controller.close();
    },
  });
}

const SSE = 'text/event-stream; charset=utf-8';
export const CONTENT_TYPES: Readonly<Record<Framing, string>> = {
  chat: SSE,
  messages: SSE,
  'generate-content': SSE,
  converse: 'application/vnd.amazon.eventstream',
};

const FRAMES: Readonly<Record<Framing, (event: JsonObject) => Uint8Array>> = {
  chat: (event) => encode(`data: ${JSON.stringify(event)}\n\n`),
  messages: (event) => encode(`event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`),
  'generate-content': (event) => encode(`data: ${JSON.stringify(event)}\r\n\r\n`),
  converse: frameConverse,
};

/** An event of Converse is told as `{ name: payload }`; the name is a header on the wire. */
function frameConverse(event: JsonObject): Uint8Array {
  const [[name, payload] = ['', {}]] = Object.entries(event);
  return name.endsWith('Exception')
    ? encodeException(name, String((payload as JsonObject)['message']))
    : encodeEvent(name, payload as object);
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
