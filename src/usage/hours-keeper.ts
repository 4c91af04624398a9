import type { OpenDatabase } from '../database/connect.ts';
import { advanceHours } from './hours.ts';

/** Others who write get their turn in between. */
const PAUSE_MS = 50;
/** New hours to sum up come slowly. */
const AGAIN_MS = 60 * 60_000;
const ACCOUNTS_MAX = 10_000;

/** Sums up past hours of the accounts whose reports are looked at, in the background. */
export class HoursKeeper {
  readonly #database: OpenDatabase;
  readonly #fail: (event: string, error: unknown) => void;
  readonly #lookedAtMs = new Map<string, number>();

  constructor(database: OpenDatabase, fail: (event: string, error: unknown) => void) {
    this.#database = database;
    this.#fail = fail;
  }

  /** Somebody looks at this account's reports. */
  touch(accountId: string): void {
    const nowMs = Date.now();
    if (nowMs - (this.#lookedAtMs.get(accountId) ?? 0) < AGAIN_MS) return;
    if (this.#lookedAtMs.size >= ACCOUNTS_MAX) this.#lookedAtMs.clear();
    this.#lookedAtMs.set(accountId, nowMs);
    void this.#advance(accountId, nowMs);
  }

  async #advance(accountId: string, nowMs: number): Promise<void> {
    try {
      do await new Promise((resolve) => setTimeout(resolve, PAUSE_MS).unref());
      while ((await advanceHours(this.#database.kysely, accountId, nowMs)) === 'behind');
    } catch (error) {
      // The database is closed when the service ends; the rest is summed up another time.
      if (!String(error).includes('destroyed')) this.#fail('past hours could not be summed up', error);
    }
  }
}
