const ROOM_BYTES_MIN = 1024;

/** Bytes that come in parts. These may be single bytes, each of which would take a hundred times its size if it were kept. */
export class GatheredBytes {
  #room = new Uint8Array(ROOM_BYTES_MIN);
  #length = 0;

  add(part: Uint8Array): void {
    const length = this.#length + part.length;
    if (length > this.#room.length) {
      const larger = new Uint8Array(2 * length);
      larger.set(this.#room.subarray(0, this.#length));
      this.#room = larger;
    }
    this.#room.set(part, this.#length);
    this.#length = length;
  }

  /** All of them, with no room behind. */
  take(): Uint8Array<ArrayBuffer> {
    return this.#room.slice(0, this.#length);
  }
}
