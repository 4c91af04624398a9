/** Receives the events of the client's side of a stream. */
export interface OutgoingEvents {
  /** The client's connection accepts text from now on. */
  onStart(): void;
  /** The client has left. */
  onCancel(): void;
  /** The connection was full and accepts more again. */
  onDrain(): void;
}

/**
 * The body of a response that is pushed: written text goes to the client's socket at once. It uses the runtime's own kind of stream,
 * because the standard kind has a queue in between.
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
    // The standard types do not include this kind of source.
    this.body = new ReadableStream(source as unknown as UnderlyingDefaultSource<Uint8Array>);
  }

  /** True while the connection accepts nothing more. Text written in the meantime is kept in memory. */
  get isFull(): boolean {
    return this.#isFull;
  }

  write(text: string): void {
    if (this.#controller === undefined) return;
    // The text is sent once the current packet has been processed. A full connection returns a promise instead of the number of bytes.
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
