const BUFFER_BYTES_MIN = 1024;

/** Collects bytes that arrive in parts. Parts may be single bytes, each of which would take a hundred times its size if kept separately. */
export class GatheredBytes {
  #buffer = new Uint8Array(BUFFER_BYTES_MIN);
  #length = 0;

  add(part: Uint8Array): void {
    const length = this.#length + part.length;
    if (length > this.#buffer.length) {
      const larger = new Uint8Array(2 * length);
      larger.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = larger;
    }
    this.#buffer.set(part, this.#length);
    this.#length = length;
  }

  /** Returns all bytes collected, without the unused rest of the buffer. */
  take(): Uint8Array<ArrayBuffer> {
    return this.#buffer.slice(0, this.#length);
  }
}
