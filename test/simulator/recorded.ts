import { encodeEvent, encodeException } from './aws-wire.ts';
import type { JsonObject } from './wire.ts';

/** An answer returned as is: the body of a complete one, and the events of a stream. */
export interface Recorded {
  /** The status, if not 200. The body is then also sent to streaming callers. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
  readonly events: readonly JsonObject[];
}

/** How a dialect frames the events of a stream. */
export type Framing = 'chat' | 'messages' | 'generate-content' | 'converse';

/** Returns the recorded answer as the dialect sends it. Each piece is one write. */
export function respond(recorded: Recorded, framing: Framing, isStreaming: boolean): Response {
  const { status = 200, headers = {}, body, events } = recorded;
  if (!isStreaming || status !== 200) return new Response(body, { status, headers: { 'content-type': 'application/json', ...headers } });
  return new Response(streamOf(frame(framing, events)), { headers: { 'content-type': CONTENT_TYPES[framing], ...headers } });
}

/** Returns the events as bytes. */
export function frame(framing: Framing, events: readonly JsonObject[]): Uint8Array[] {
  const isFailed = events.some((event) => 'error' in event);
  // A stream that ended with an error sends no end marker.
  const end = framing === 'chat' && !isFailed ? [encode('data: [DONE]\n\n')] : [];
  return [...events.map((event) => FRAMES[framing](event)), ...end];
}

/** A body written piece by piece. */
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

/** A Converse event is given as `{ name: payload }`. The name is a header on the wire. */
function frameConverse(event: JsonObject): Uint8Array {
  const [[name, payload] = ['', {}]] = Object.entries(event);
  return name.endsWith('Exception')
    ? encodeException(name, String((payload as JsonObject)['message']))
    : encodeEvent(name, payload as object);
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
