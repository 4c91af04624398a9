/** Hears what happens on the caller's side of a stream. */
export interface OutgoingEvents {
  /** The caller's connection takes text from now on. */
  onStart(): void;
  /** The caller has left. */
  onCancel(): void;
  /** The connection was full and takes more again. */
  onDrain(): void;
}

/**
 * The body of a response that is pushed: what is written goes to the caller's socket at once. This is the runtime's own
 * kind of stream; the standard kind has a queue in between.
 */
export class OutgoingStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #events: OutgoingEvents;
  #controller: ReadableStreamDirectController | undefined;
  #isFull = false;

  constructor(events: OutgoingEvents) {
    this.#events = events;
    const source: Bun.DirectUnderlyingSource<Uint8Array> = {
      type: 'direct',
      pull: (controller) => this.#start(controller),
      cancel: () => this.#cancel(),
    };
    // The standard types do not know this kind of source.
    this.body = new ReadableStream(source as unknown as UnderlyingDefaultSource<Uint8Array>);
  }

  /** True while the connection takes nothing more; what is written meanwhile is kept in memory. */
  get isFull(): boolean {
    return this.#isFull;
  }

  write(text: string): void {
    if (this.#controller === undefined) return;
    // It is sent when what this packet brought has been dealt with. A full connection gives a promise where it gives the number of bytes otherwise.
    const written = this.#controller.write(text);
    if (typeof written === 'number' || this.#isFull) return;
    this.#isFull = true;
    void written.then(() => this.#drain());
  }

  close(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }

  #start(controller: ReadableStreamDirectController): void {
    this.#controller = controller;
    this.#events.onStart();
  }

  #cancel(): void {
    this.#controller = undefined;
    this.#events.onCancel();
  }

  #drain(): void {
    this.#isFull = false;
    if (this.#controller !== undefined) this.#events.onDrain();
  }
}
