import type { HeldBytes } from './held-bytes.ts';

/** What this needs of a socket. */
interface Writable {
  write(bytes: Uint8Array, start: number, length: number): number;
}

/** Writes to a socket, and keeps what it does not accept yet. */
export class SocketWriter {
  readonly #socket: Writable;
  readonly #held: HeldBytes;
  #unsent: Buffer | undefined;
  #countedBytes = 0;
  #isClosed = false;

  /** What is kept counts as held: clients that do not read their responses must not take all memory. */
  constructor(socket: Writable, held: HeldBytes) {
    this.#socket = socket;
    this.#held = held;
  }

  /** True while the socket accepts nothing more. */
  get isFull(): boolean {
    return this.#unsent !== undefined;
  }

  /** Writes bytes that are used again for something else. */
  write(bytes: Buffer, length: number): void {
    const written = this.#offer(bytes, length);
    if (written < length) this.#keep(Buffer.from(bytes.subarray(written, length)));
  }

  /** Writes bytes that stay as they are. */
  writeKept(bytes: Buffer): void {
    const written = this.#offer(bytes, bytes.length);
    if (written < bytes.length) this.#keep(bytes.subarray(written));
  }

  /** Writes more of what was kept, once the socket accepts more. */
  drain(): void {
    const unsent = this.#unsent;
    this.#unsent = undefined;
    if (unsent !== undefined) this.writeKept(unsent);
    if (this.#unsent === undefined) this.#count(0);
  }

  /** Forgets what was kept: the socket is closed. */
  clear(): void {
    this.#isClosed = true;
    this.#unsent = undefined;
    this.#count(0);
  }

  /** Returns how much the socket accepts. A closed one accepts nothing; its close event follows. */
  #offer(bytes: Buffer, length: number): number {
    return this.#unsent === undefined ? Math.max(0, this.#socket.write(bytes, 0, length)) : 0;
  }

  #keep(bytes: Buffer): void {
    if (this.#isClosed) return;
    this.#unsent = this.#unsent === undefined ? bytes : Buffer.concat([this.#unsent, bytes]);
    this.#count(this.#unsent.length);
  }

  #count(bytes: number): void {
    this.#held.add(bytes - this.#countedBytes);
    this.#countedBytes = bytes;
  }
}
