import type { Kysely } from 'kysely';
import { differences, recordAudit } from '../accounts/audit.ts';
import type { Tables } from '../database/tables.ts';
import { recent } from './recent.ts';

/** A notice from the operators, shown to everyone who is signed in. */
export interface Banner {
  readonly text: string;
  readonly tone: 'info' | 'warning';
}

/** Every page reads the banner, so it is cached this long. */
const CACHE_MS = 5000;
const ID = 1;

/** Stores the banner. There is at most one. */
export class Banners {
  readonly #database: Kysely<Tables>;
  /** Returns the banner, possibly from the cache. */
  read: () => Promise<Banner | undefined>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
    this.read = this.#newCache();
  }

  /** Sets the banner; undefined removes it. */
  async set(banner: Banner | undefined, actor: string): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      const changes = differences({ ...(await find(transaction)) }, { ...banner });
      if (changes.length === 0) return;
      if (banner === undefined) await transaction.deleteFrom('banners').execute();
      else
        await transaction
          .insertInto('banners')
          .values({ id: ID, ...banner, created_at: Date.now() })
          .onConflict((conflict) => conflict.column('id').doUpdateSet({ ...banner, created_at: Date.now() }))
          .execute();
      await recordAudit(transaction, { actor, action: banner === undefined ? 'banner.clear' : 'banner.set', subject: 'banner', changes });
    });
    this.read = this.#newCache();
  }

  #newCache(): () => Promise<Banner | undefined> {
    return recent(() => find(this.#database), CACHE_MS);
  }
}

async function find(database: Kysely<Tables>): Promise<Banner | undefined> {
  return database.selectFrom('banners').select(['text', 'tone']).executeTakeFirst();
}
