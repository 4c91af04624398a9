import { memoryBytes } from '../http/held-bytes.ts';
import type { Log } from './log.ts';
import { every, type Clock } from '../turns.ts';

/** The share of the memory of the machine or container from which on the system may end the process at any time. */
const SHARE_OF_MEMORY = 0.85;
/** What may be in use of the limit before requests are accepted again, so that they are not refused again at once. */
const SHARE_OF_LIMIT = 0.95;
const INTERVAL_MS = 1000;
/** A collection stops everything for a moment. Without requests there may be none, and the memory in use would never fall. */
const COLLECT_INTERVAL_MS = 5000;

interface MemoryWatchOptions {
  /** Undefined for a share of the memory there is. */
  readonly limitBytes: number | undefined;
  readonly log: Pick<Log, 'internalError' | 'lifecycle'>;
  /** Only tests change these. */
  readonly read?: () => number;
  readonly collect?: () => void;
  readonly now?: () => number;
}

/** Knows whether the process has taken more memory than it may. */
export class MemoryWatch {
  /** True while no new request should begin. */
  isShort = false;
  readonly #limitBytes: number;
  readonly #options: MemoryWatchOptions;
  #collectedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: MemoryWatchOptions) {
    this.#options = options;
    this.#limitBytes = options.limitBytes ?? SHARE_OF_MEMORY * memoryBytes();
  }

  /** Looks once a second from now on: requests read only the result. */
  start(): Clock {
    const work = async (): Promise<void> => this.look();
    return every(INTERVAL_MS, work, (error) => this.#options.log.internalError('memory could not be watched', error));
  }

  look(): void {
    const { log, read = () => process.memoryUsage.rss() } = this.#options;
    const isShort = read() > (this.isShort ? SHARE_OF_LIMIT * this.#limitBytes : this.#limitBytes);
    if (isShort) this.#collect();
    if (isShort && !this.isShort) log.internalError('memory is short: new requests are refused', undefined);
    if (!isShort && this.isShort) log.lifecycle('memory is free again: requests are accepted');
    this.isShort = isShort;
  }

  #collect(): void {
    const { collect = () => Bun.gc(true), now = () => performance.now() } = this.#options;
    if (now() - this.#collectedAtMs < COLLECT_INTERVAL_MS) return;
    collect();
    this.#collectedAtMs = now();
  }
}
