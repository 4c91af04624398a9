/** A token by itself takes many times its length in memory. So many are kept before they are joined. */
const PIECES_MAX = 32;

/** More than this is not kept, only measured: the count of the beginning stands for the rest. */
const CHARACTERS_MAX = 64 * 1024;

/** What a stream has said so far, gathered piece by piece. */
export class OutputText {
  #length = 0;
  #joined = '';
  readonly #pieces: string[] = [];

  add(piece: string): void {
    if (piece === '') return;
    const room = CHARACTERS_MAX - this.#length;
    this.#length += piece.length;
    if (room <= 0 || this.#pieces.push(piece.length <= room ? piece : piece.slice(0, room)) < PIECES_MAX) return;
    this.#joined += this.#pieces.join('');
    this.#pieces.length = 0;
  }

  /** How much was said. */
  get length(): number {
    return this.#length;
  }

  /** As much of it as was kept. */
  read(): string {
    return this.#joined + this.#pieces.join('');
  }
}
