import { EventStreamCodec } from '@smithy/core/event-streams';
import type { SseEvent } from './sse.ts';

/** No honest event is longer; a provider that announces more must not fill our memory. */
export const MESSAGE_BYTES_MAX = 1_000_000;
const LENGTH_BYTES = 4;
/** The lengths, their checksum and the checksum of the whole. */
const MESSAGE_BYTES_MIN = 16;

const decoder = new TextDecoder();
const encoder = new TextEncoder();
const codec = new EventStreamCodec((bytes) => (typeof bytes === 'string' ? bytes : decoder.decode(bytes)), encoder.encode.bind(encoder));

/** The name of the events that stand for an exception: their data has its `type` and its `message`. */
const EXCEPTION = 'exception';

/** Cuts a stream of AWS's binary messages into events, wherever the network cut it into packets. */
export class AwsEventStreamParser {
  #parts: Uint8Array[] = [];
  #bytes = 0;

  /** The events that these bytes complete. Throws when a message is broken or announces a length beyond all bounds. */
  push(bytes: Uint8Array): readonly SseEvent[] {
    this.#parts.push(bytes);
    this.#bytes += bytes.length;
    const events: SseEvent[] = [];
    for (let message = this.#take(); message !== undefined; message = this.#take()) events.push(toEvent(message));
    return events;
  }

  /** The end of the stream: there is never a last event, but there may be half of one. */
  end(): readonly SseEvent[] {
    if (this.#bytes > 0) throw new Error(`The stream ended in the middle of an event, after ${this.#bytes} bytes of it`);
    return [];
  }

  /** The next message when all of it is here. Packets are joined only then, so that a long one is copied once. */
  #take(): Uint8Array | undefined {
    if (this.#bytes < LENGTH_BYTES) return undefined;
    const length = this.#readLength();
    if (length < MESSAGE_BYTES_MIN || length > MESSAGE_BYTES_MAX) throw new Error(`An event of ${length} bytes is announced`);
    if (this.#bytes < length) return undefined;
    const whole = this.#joined();
    this.#parts = whole.length === length ? [] : [whole.subarray(length)];
    this.#bytes -= length;
    return whole.subarray(0, length);
  }

  #readLength(): number {
    const first = this.#parts[0];
    const start = first !== undefined && first.length >= LENGTH_BYTES ? first : this.#joined();
    return new DataView(start.buffer, start.byteOffset, LENGTH_BYTES).getUint32(0);
  }

  #joined(): Uint8Array {
    const [first] = this.#parts;
    const whole = this.#parts.length === 1 && first !== undefined ? first : new Uint8Array(Buffer.concat(this.#parts, this.#bytes));
    this.#parts = [whole];
    return whole;
  }
}

/** The checksums are compared here; a message that was damaged on its way throws. */
function toEvent(message: Uint8Array): SseEvent {
  const { headers, body } = codec.decode(message);
  const header = (name: string): string => String(headers[name]?.value ?? '');
  const data = decoder.decode(body);
  switch (header(':message-type')) {
    case 'exception':
      return { name: EXCEPTION, data: withType(header(':exception-type'), data) };
    case 'error':
      return { name: EXCEPTION, data: JSON.stringify({ type: header(':error-code'), message: header(':error-message') }) };
    default:
      return { name: header(':event-type'), data };
  }
}

/** The payload of an exception has its message, the header its name. */
function withType(type: string, data: string): string {
  try {
    const body: unknown = JSON.parse(data);
    return JSON.stringify({ ...(body as object), type });
  } catch {
    // An exception that does not say why is still one.
    return JSON.stringify({ type, message: data });
  }
}
