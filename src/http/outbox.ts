const BYTES_MIN = 64 * 1024;
/** One huge answer must not take its room for ever. */
const BYTES_KEPT = 1024 * 1024;

/** Bytes on their way to a client, gathered so that one write sends them. It keeps its room for the next time. */
export class Outbox {
  #bytes: Buffer = Buffer.allocUnsafeSlow(BYTES_MIN);
  #length = 0;

  get bytes(): Buffer {
    return this.#bytes;
  }

  get length(): number {
    return this.#length;
  }

  addText(text: string): void {
    this.#makeRoom(3 * text.length);
    this.#length += this.#bytes.write(text, this.#length);
  }

  addBytes(bytes: Uint8Array, start: number, end: number): void {
    this.#makeRoom(end - start);
    const target = this.#bytes;
    let to = this.#length;
    for (let at = start; at < end; at += 1, to += 1) target[to] = bytes[at] ?? 0;
    this.#length = to;
  }

  addByte(byte: number): void {
    this.#makeRoom(1);
    this.#bytes[this.#length] = byte;
    this.#length += 1;
  }

  clear(): void {
    this.#length = 0;
    if (this.#bytes.length > BYTES_KEPT) this.#bytes = Buffer.allocUnsafeSlow(BYTES_MIN);
  }

  #makeRoom(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(2 * needed);
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
