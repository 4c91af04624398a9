import { readFileSync } from 'node:fs';
import { normalizeAddress } from './client-address.ts';
import { isPublicAddress } from './public-address.ts';

/** The most connections from one address of the internet. Addresses of private networks are those of proxies in front of us. */
const CONNECTIONS_PER_ADDRESS_MAX = 1024;
/** Files that the process needs for everything but connections. */
const OTHER_FILES_MAX = 128;

/** Counts connections, so that no client can take all that the process may open. */
export class ConnectionCount {
  readonly #byAddress = new Map<string, number>();
  readonly #totalMax: number;
  #total = 0;

  constructor(filesMax = readFilesMax()) {
    // A request needs another connection, to its provider.
    this.#totalMax = Math.floor((filesMax - OTHER_FILES_MAX) / 2);
  }

  /** Counts a connection. Returns false if it is one too many: it is counted all the same, until it is removed. */
  add(address: string): boolean {
    const count = (this.#byAddress.get(address) ?? 0) + 1;
    this.#byAddress.set(address, count);
    this.#total += 1;
    return this.#total <= this.#totalMax && (count <= CONNECTIONS_PER_ADDRESS_MAX || !isPublicAddress(normalizeAddress(address)));
  }

  remove(address: string): void {
    const count = this.#byAddress.get(address) ?? 0;
    if (count > 1) this.#byAddress.set(address, count - 1);
    else this.#byAddress.delete(address);
    this.#total -= 1;
  }
}

/** Returns how many files the process may open. Where the system does not tell, it is left to enforce that itself. */
function readFilesMax(): number {
  try {
    return Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? Number.POSITIVE_INFINITY);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
