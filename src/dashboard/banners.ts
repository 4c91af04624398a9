import type { Kysely } from 'kysely';
import { differences, recordAudit } from '../accounts/audit.ts';
import type { Tables } from '../database/tables.ts';

/** What operators tell everybody who is signed in. */
export interface Banner {
  readonly text: string;
  readonly tone: 'info' | 'warning';
}

/** Pages ask for it with everything they ask; so long the last answer serves. */
const KNOWN_MS = 5000;
const ID = 1;

/** The text that operators set for everybody; there is one, or none. */
export class Banners {
  readonly #database: Kysely<Tables>;
  #known: { readonly untilMs: number; readonly banner: Promise<Banner | undefined> } | undefined;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  /** As it was a moment ago. */
  read(): Promise<Banner | undefined> {
    const nowMs = Date.now();
    if (this.#known !== undefined && nowMs < this.#known.untilMs) return this.#known.banner;
    const banner = find(this.#database);
    this.#known = { untilMs: nowMs + KNOWN_MS, banner };
    banner.catch(() => this.#forget());
    return banner;
  }

  /** Sets it; undefined takes it away. */
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
    this.#forget();
  }

  #forget(): void {
    this.#known = undefined;
  }
}

async function find(database: Kysely<Tables>): Promise<Banner | undefined> {
  return database.selectFrom('banners').select(['text', 'tone']).executeTakeFirst();
}
