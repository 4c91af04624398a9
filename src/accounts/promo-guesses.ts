import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { networkOf } from '../http/address-range.ts';

/** Who tries codes: an account, and the address it comes from where that is known. */
export interface Guesser {
  readonly accountId: string;
  readonly address?: string | undefined;
}

const WINDOW_MS = 3_600_000;
const ACCOUNT_FAILURES_MAX = 10;
/** More people may share an address. */
const ADDRESS_FAILURES_MAX = 30;

/** Counts codes that do not exist, by account and by address, in the database: all nodes count together. */
export class PromoGuesses {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  /** After how long this guesser may try again; 0 for now. */
  async waitMs(guesser: Guesser, nowMs: number): Promise<number> {
    const names = namesOf(guesser);
    const rows = await this.#database
      .selectFrom('promo_guesses')
      .selectAll()
      .where('name', 'in', [...names.keys()])
      .where('window_start', '>', BigInt(nowMs - WINDOW_MS))
      .execute();
    const waits = rows
      .filter(({ name, failures }) => Number(failures) >= (names.get(name) ?? 0))
      .map(({ window_start }) => Number(window_start) + WINDOW_MS - nowMs);
    return Math.max(0, ...waits);
  }

  /** Notes a code that does not exist. */
  async fail(guesser: Guesser, nowMs: number): Promise<void> {
    const over = BigInt(nowMs - WINDOW_MS);
    for (const name of namesOf(guesser).keys())
      await this.#database
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
        .execute();
  }

  /** Forgets windows that are over. */
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
