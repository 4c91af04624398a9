/** Receives the events of the client's side of a stream. */
export interface OutgoingEvents {
  /** The client's connection accepts text from now on. */
  onStart(): void;
  /** The client has left. */
  onCancel(): void;
  /** The connection was full and accepts more again. */
  onDrain(): void;
}

/** The connection that carries a stream. */
export interface StreamCarrier {
  /** True while the connection accepts nothing more. */
  readonly isFull: boolean;
  /** Sends a part of the body. */
  sendPart(text: string): void;
  sendPartBytes(bytes: Buffer, start: number, end: number): void;
  /** Ends the body with a last part, which may be empty. */
  sendEnd(text: string): void;
  /** Cuts the connection, so that the body does not look complete. */
  cut(): void;
}

/** The body of a response that is pushed: what is written goes to the client's socket at once. */
export class OutgoingStream {
  readonly #events: OutgoingEvents;
  #carrier: StreamCarrier | undefined;
  #isOver = false;

  constructor(events: OutgoingEvents) {
    this.#events = events;
  }

  /** True while the connection accepts nothing more. Text written in the meantime is kept in memory. */
  get isFull(): boolean {
    return this.#carrier?.isFull === true;
  }

  write(text: string): void {
    this.#carrier?.sendPart(text);
  }

  /** Sends these bytes. They are not needed after the call. */
  writeBytes(bytes: Buffer, start: number, end: number): void {
    this.#carrier?.sendPartBytes(bytes, start, end);
  }

  /** Ends the stream with a last text. */
  end(text: string): void {
    const carrier = this.#carrier;
    this.#carrier = undefined;
    this.#isOver = true;
    carrier?.sendEnd(text);
  }

  /** Ends the stream before it is complete. */
  break(): void {
    this.#carrier?.cut();
  }

  /** Begins the transfer. The server calls this, and the two below. */
  start(carrier: StreamCarrier): void {
    this.#carrier = carrier;
    this.#events.onStart();
  }

  onDrain(): void {
    if (this.#carrier !== undefined) this.#events.onDrain();
  }

  /** Notes that the client has left, perhaps before the transfer began. */
  onGone(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#carrier = undefined;
    this.#events.onCancel();
  }
}
