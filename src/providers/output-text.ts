/** A piece of a packet keeps the whole packet in memory. After this many, the pieces are copied out of theirs. */
const PIECES_MAX = 4;

/** More than this is not kept, only measured: the count of the beginning stands for the rest. */
const CHARACTERS_MAX = 64 * 1024;

/** What a stream has said so far, gathered piece by piece without holding on to the packets that the pieces came in. */
export class OutputText {
  #length = 0;
  #copied = '';
  readonly #pieces: string[] = [];

  add(piece: string): void {
    if (piece === '') return;
    const room = CHARACTERS_MAX - this.#length;
    this.#length += piece.length;
    if (room <= 0 || this.#pieces.push(piece.length <= room ? piece : piece.slice(0, room)) < PIECES_MAX) return;
    this.#copied += this.#pieces.join('');
    this.#pieces.length = 0;
  }

  /** How much was said. */
  get length(): number {
    return this.#length;
  }

  /** As much of it as was kept. */
  read(): string {
    return this.#copied + this.#pieces.join('');
  }
}
