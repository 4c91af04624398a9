/** The first buffer holds this much, because one of many streams must not cost more memory than it needs. */
const BYTES_MIN = 256;

/** Fewer bytes are copied in a loop: compiled, it takes less time than a call into the runtime. */
const LOOP_BYTES_MAX = 32;

const KEPT_BYTES_MAX = 1024 * 1024;

const EMPTY = Buffer.alloc(0);

/** Gathers bytes that go to a client in one buffer, which is used again and again. */
export class Outbox {
  #bytes = EMPTY;
  #length = 0;

  /** What has been gathered is at the start of this buffer, and is valid only until the next call. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  get length(): number {
    return this.#length;
  }

  /** Forgets what was gathered, and keeps the buffer. One huge answer must not take its room for ever. */
  clear(): void {
    this.#length = 0;
    if (this.#bytes.length > KEPT_BYTES_MAX) this.#bytes = EMPTY;
  }

  addByte(byte: number): void {
    this.#makeRoom(1);
    this.#bytes[this.#length] = byte;
    this.#length += 1;
  }

  addText(text: string): void {
    this.#makeRoom(UTF8_BYTES_MAX * text.length);
    this.#length += this.#bytes.write(text, this.#length);
  }

  addBytes(bytes: Buffer, start: number, end: number): void {
    const count = end - start;
    this.#makeRoom(count);
    if (count > LOOP_BYTES_MAX) bytes.copy(this.#bytes, this.#length, start, end);
    else copyInLoop(bytes, start, end, this);
    this.#length += count;
  }

  /** Returns what was gathered as text. */
  read(): string {
    return this.#bytes.toString('utf8', 0, this.#length);
  }

  #makeRoom(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.alloc(Math.max(needed, 2 * this.#bytes.length, BYTES_MIN));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

/** The most bytes that a UTF-16 unit takes. */
const UTF8_BYTES_MAX = 3;

function copyInLoop(from: Buffer, start: number, end: number, { bytes, length }: Outbox): void {
  const shift = length - start;
  for (let at = start; at < end; at += 1) bytes[shift + at] = from[at] ?? 0;
}
