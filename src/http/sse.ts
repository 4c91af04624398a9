import { createParser, type EventSourceParser } from 'eventsource-parser';

/** No honest event is longer; a provider that sends bytes without an end must not fill our memory. */
export const EVENT_CHARACTERS_MAX = 1_000_000;

const MORE_TO_COME = { stream: true } as const;

/** One event of a stream: its data, and its name where it has one. */
export interface SseEvent {
  readonly name: string | undefined;
  readonly data: string;
}

/** Cuts a stream of bytes into events, wherever the network cut it into packets. */
export class SseParser {
  readonly #decoder = new TextDecoder();
  readonly #parser: EventSourceParser;
  #events: SseEvent[] = [];
  #isTooLong = false;

  constructor() {
    this.#parser = createParser({
      maxBufferSize: EVENT_CHARACTERS_MAX,
      onEvent: (event) => this.#events.push({ name: event.event, data: event.data }),
      onError: (error) => {
        if (error.type === 'max-buffer-size-exceeded') this.#isTooLong = true;
      },
    });
  }

  /** The events that these bytes complete. Throws when an event has grown beyond all bounds. */
  push(bytes: Uint8Array): readonly SseEvent[] {
    return this.#feed(this.#decoder.decode(bytes, MORE_TO_COME));
  }

  /** The last event, when the stream ended without the blank line that should close it. */
  end(): readonly SseEvent[] {
    return this.#feed(`${this.#decoder.decode()}\n\n`);
  }

  #feed(text: string): readonly SseEvent[] {
    this.#events = [];
    this.#parser.feed(text);
    if (this.#isTooLong) throw new Error(`An event is longer than ${EVENT_CHARACTERS_MAX} characters`);
    return this.#events;
  }
}

/** One event as it goes to the caller. */
export function formatEvent(data: string): string {
  return `data: ${data}\n\n`;
}

/** A line that every client ignores: it keeps a quiet connection from being taken for dead. */
export const KEEP_ALIVE = ': keep-alive\n\n';

/** The end of every stream that did not fail. */
export const DONE = 'data: [DONE]\n\n';
