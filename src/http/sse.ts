import { createParser, type EventSourceParser } from 'eventsource-parser';

/** Large enough for the largest image that a model makes, in base64. A provider that never ends an event must not fill our memory. */
export const EVENT_CHARACTERS_MAX = 32_000_000;

const MORE_TO_COME = { stream: true } as const;

/** One event of a stream: its data, and its name if it has one. */
export interface SseEvent {
  readonly name: string | undefined;
  readonly data: string;
}

/** Splits a stream of bytes into events, wherever the network split it into packets. */
export class SseParser {
  readonly #decoder = new TextDecoder();
  /** Created when first needed: most streams are plain from start to end. */
  #parser: EventSourceParser | undefined;
  #events: SseEvent[] = [];
  /** True when the parser holds nothing, so the next text begins a line and an event. */
  isBetweenEvents = true;
  #isTooLong = false;

  /** Returns the events that these bytes complete. Throws when an event is too long. */
  push(bytes: Uint8Array): readonly SseEvent[] {
    this.#events = [];
    const text = this.#decoder.decode(bytes, MORE_TO_COME);
    const taken = this.isBetweenEvents && !text.includes('\r') ? this.#takePlain(text) : 0;
    if (taken < text.length) this.#feed(taken === 0 ? text : text.slice(taken));
    return this.#events;
  }

  /** Returns the last event, if the stream ended without the blank line that should close it. */
  end(): readonly SseEvent[] {
    this.#events = [];
    const rest = this.#decoder.decode();
    if (rest !== '' || !this.isBetweenEvents) this.#feed(`${rest}\n\n`);
    return this.#events;
  }

  /**
   * Takes the events at the start of the text that are one line of data and a blank line. Returns where they end. Nearly all events are
   * like that, and each usually arrives in its own packet: looking for two line ends costs a fraction of parsing.
   */
  #takePlain(text: string): number {
    let at = 0;
    while (text.startsWith(DATA, at)) {
      const lineEnd = text.indexOf('\n', at);
      if (lineEnd === -1 || text.charCodeAt(lineEnd + 1) !== LINE_FEED) break;
      this.#events.push({ name: undefined, data: text.slice(at + DATA.length, lineEnd) });
      at = lineEnd + 2;
    }
    return at;
  }

  #feed(text: string): void {
    this.#parser ??= this.#makeParser();
    this.#parser.feed(text);
    this.isBetweenEvents = text.endsWith('\n\n');
    if (this.#isTooLong) throw new Error(`An event is longer than ${EVENT_CHARACTERS_MAX} characters`);
  }

  #makeParser(): EventSourceParser {
    return createParser({
      maxBufferSize: EVENT_CHARACTERS_MAX,
      onEvent: (event) => this.#events.push({ name: event.event, data: event.data }),
      onError: (error) => {
        if (error.type === 'max-buffer-size-exceeded') this.#isTooLong = true;
      },
    });
  }
}

const DATA = 'data: ';
const LINE_FEED = 10;

/** Formats one event for the client. */
export function formatEvent(data: string): string {
  return `data: ${data}\n\n`;
}

/**
 * Keeps a quiet connection from being taken for dead. Clients ignore comments. The blank line belongs to it: clients that split the stream
 * at blank lines would take the next event for a part of the comment.
 */
export const KEEP_ALIVE = ': keep-alive\n\n';

/** The end of every stream that did not fail. */
export const DONE = 'data: [DONE]\n\n';
