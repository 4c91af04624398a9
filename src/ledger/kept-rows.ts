/** A busy service has fewer active accounts than this. Beyond it, all rows are read anew. */
const KEPT_MAX = 1000;

/** Rows in memory: those that the current transaction uses, and those of earlier transactions, which are still as they were saved. */
export class KeptRows<Row> {
  readonly #read: (id: string) => Row;
  readonly #kept = new Map<string, Row>();
  readonly #used = new Map<string, Row>();

  constructor(read: (id: string) => Row) {
    this.#read = read;
  }

  /** The rows that the current transaction may have changed. */
  get used(): ReadonlyMap<string, Row> {
    return this.#used;
  }

  /** Returns a row to read and change. */
  use(id: string): Row {
    let row = this.#used.get(id);
    if (row === undefined) {
      row = this.#kept.get(id) ?? this.#read(id);
      this.#used.set(id, row);
    }
    return row;
  }

  /** Keeps the rows of a transaction that has saved them. */
  keep(): void {
    if (this.#kept.size > KEPT_MAX) this.#kept.clear();
    for (const [id, row] of this.#used) this.#kept.set(id, row);
    this.#used.clear();
  }

  forget(): void {
    this.#kept.clear();
    this.#used.clear();
  }
}
