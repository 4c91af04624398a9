import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { HOUR_MS } from '../durations.ts';
import { networkOf } from '../http/address-range.ts';

/** Who tries codes: an account, and its address if known. */
export interface Guesser {
  readonly accountId: string;
  readonly address?: string | undefined;
}

const WINDOW_MS = HOUR_MS;
const ACCOUNT_FAILURES_MAX = 10;
/** Higher, because several people may share an address. */
const ADDRESS_FAILURES_MAX = 30;

/** Counts guesses of codes that do not exist, by account and by address, in the database, so that all nodes count together. */
export class PromoGuesses {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  /**
   * Counts an attempt before it is made, so that attempts at the same moment cannot all pass. Returns how long to wait, 0 if the attempt
   * is allowed. An attempt that turns out not to be a wrong guess is taken back.
   */
  async begin(guesser: Guesser, nowMs: number): Promise<number> {
    const counted: string[] = [];
    for (const [name, failuresMax] of namesOf(guesser)) {
      counted.push(name);
      const waitMs = await this.#count(name, failuresMax, nowMs);
      if (waitMs === 0) continue;
      // A refused account must not use up the attempts of others at the same address.
      await this.#takeBack(counted);
      return waitMs;
    }
    return 0;
  }

  /** Takes an attempt back that was not a wrong guess. */
  takeBack(guesser: Guesser): Promise<void> {
    return this.#takeBack([...namesOf(guesser).keys()]);
  }

  async #takeBack(names: readonly string[]): Promise<void> {
    await this.#database
      .updateTable('promo_guesses')
      .set((row) => ({ failures: row('failures', '-', 1n) }))
      .where('name', 'in', names)
      .where('failures', '>', 0n)
      .execute();
  }

  /** Counts an attempt in one statement; returns how long to wait. */
  async #count(name: string, failuresMax: number, nowMs: number): Promise<number> {
    const over = BigInt(nowMs - WINDOW_MS);
    const { failures, window_start } = await this.#database
      .insertInto('promo_guesses')
      .values({ name, window_start: nowMs, failures: 1 })
      .onConflict((conflict) =>
        conflict.column('name').doUpdateSet((row) => ({
          failures: row
            .case()
            .when('promo_guesses.window_start', '<=', over)
            .then(1n)
            .else(row('promo_guesses.failures', '+', 1n))
            .end(),
          window_start: row
            .case()
            .when('promo_guesses.window_start', '<=', over)
            .then(BigInt(nowMs))
            .else(row.ref('promo_guesses.window_start'))
            .end(),
        })),
      )
      .returning(['failures', 'window_start'])
      .executeTakeFirstOrThrow();
    return Number(failures) > failuresMax ? Number(window_start) + WINDOW_MS - nowMs : 0;
  }

  /** Deletes expired windows. */
  async prune(nowMs: number): Promise<void> {
    await this.#database
      .deleteFrom('promo_guesses')
      .where('window_start', '<=', BigInt(nowMs - WINDOW_MS))
      .execute();
  }
}

function namesOf({ accountId, address }: Guesser): Map<string, number> {
  const names = new Map([[`account:${accountId}`, ACCOUNT_FAILURES_MAX]]);
  if (address !== undefined) names.set(`address:${networkOf(address)}`, ADDRESS_FAILURES_MAX);
  return names;
}
