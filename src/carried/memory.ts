/** A value kept for a provider, and since when. */
export interface KeptValue {
  readonly value: string;
  readonly keptAtMs: number;
}

const ENTRIES_MAX = 50_000;
const BYTES_MAX = 32 * 1024 * 1024;
/** The approximate cost of an entry besides its texts. */
const ENTRY_BYTES = 200;

/** A cache of the most recently used values. A map lists its entries in insertion order, so the first is the one longest unused. */
export class CarriedMemory {
  readonly #entries = new Map<string, KeptValue>();
  #bytes = 0;

  get(key: string): KeptValue | undefined {
    const kept = this.#entries.get(key);
    if (kept === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, kept);
    return kept;
  }

  set(key: string, kept: KeptValue): void {
    this.#delete(key);
    this.#entries.set(key, kept);
    this.#bytes += bytesOf(key, kept);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= ENTRIES_MAX && this.#bytes <= BYTES_MAX) break;
      this.#delete(oldest);
    }
  }

  #delete(key: string): void {
    const kept = this.#entries.get(key);
    if (kept === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= bytesOf(key, kept);
  }
}

/** Returns an upper bound: a character takes at most two bytes. */
function bytesOf(key: string, { value }: KeptValue): number {
  return ENTRY_BYTES + 2 * (key.length + value.length);
}
