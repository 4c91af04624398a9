import { EventStreamCodec } from '@smithy/core/event-streams';
import type { SseEvent } from './sse.ts';

/** Longer than any genuine event. A provider that announces more must not fill our memory. */
export const MESSAGE_BYTES_MAX = 1_000_000;
const LENGTH_BYTES = 4;
/** The lengths, their checksum and the checksum of the whole message. */
const MESSAGE_BYTES_MIN = 16;

const decoder = new TextDecoder();
const encoder = new TextEncoder();
const codec = new EventStreamCodec((bytes) => (typeof bytes === 'string' ? bytes : decoder.decode(bytes)), encoder.encode.bind(encoder));

/** The name of events that stand for an exception. Their data holds its `type` and `message`. */
const EXCEPTION = 'exception';

/** Splits a stream of AWS binary messages into events, wherever the network split it into packets. */
export class AwsEventStreamParser {
  #parts: Uint8Array[] = [];
  #bytes = 0;

  /** Returns the events that these bytes complete. Throws when a message is broken or announces too large a length. */
  push(bytes: Uint8Array): readonly SseEvent[] {
    this.#parts.push(bytes);
    this.#bytes += bytes.length;
    const events: SseEvent[] = [];
    for (let message = this.#take(); message !== undefined; message = this.#take()) events.push(toEvent(message));
    return events;
  }

  /** Ends the stream. There is never a last event to return, but half of one is an error. */
  end(): readonly SseEvent[] {
    if (this.#bytes > 0) throw new Error(`The stream ended in the middle of an event, after ${this.#bytes} of its bytes`);
    return [];
  }

  /** Returns the next message once all of it has arrived. Packets are joined only then, so a long message is copied once. */
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

/** Decodes a message and verifies its checksums. Throws when the message was damaged in transit. */
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

/** Adds the type to an exception: the payload holds its message, the header its name. */
function withType(type: string, data: string): string {
  try {
    const body: unknown = JSON.parse(data);
    return JSON.stringify({ ...(body as object), type });
  } catch {
    // An exception without a readable reason is still an exception.
    return JSON.stringify({ type, message: data });
  }
}
