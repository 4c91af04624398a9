import { totalmem } from 'node:os';

/** What is held takes two to six times its size until its request has ended: as text, parsed, and written for the other side. */
const SHARE_OF_MEMORY = 1 / 16;
const BYTES_MIN = 64_000_000;

/** The memory of this machine, or of the container that the process runs in. */
export function memoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** Counts the bytes of all request bodies and replies that are in memory. */
export class HeldBytes {
  /** Large bodies are accepted up to here. Everything else may take as much again, so that it goes on beside them. */
  readonly max: number;
  #total = 0;

  constructor(max = Math.max(BYTES_MIN, Math.floor(memoryBytes() * SHARE_OF_MEMORY))) {
    this.max = max;
  }

  get total(): number {
    return this.#total;
  }

  /** Counts bytes that arrive, or with a negative number those that are free again. */
  add(bytes: number): void {
    this.#total += bytes;
  }
}
