import type { Kysely } from 'kysely';
import { recordAudit } from '../accounts/audit.ts';
import type { Tables } from '../database/tables.ts';

/** A provider that is out of service. */
export interface DisabledProvider {
  readonly provider: string;
  readonly disabledBy: string;
  readonly disabledAtMs: number;
}

/** The providers that operators took out of service. Every node rereads them after a change. */
export class DisabledProviders {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  async list(): Promise<DisabledProvider[]> {
    const rows = await this.#database.selectFrom('disabled_providers').selectAll().orderBy('provider').execute();
    return rows.map((row) => ({ provider: row.provider, disabledBy: row.disabled_by, disabledAtMs: Number(row.disabled_at) }));
  }

  async names(): Promise<ReadonlySet<string>> {
    return new Set((await this.list()).map(({ provider }) => provider));
  }

  /** Takes a provider out of service. Returns false if it already was. */
  async disable(provider: string, actor: string): Promise<boolean> {
    return this.#database.transaction().execute(async (transaction) => {
      const { numInsertedOrUpdatedRows } = await transaction
        .insertInto('disabled_providers')
        .values({ provider, disabled_by: actor, disabled_at: Date.now() })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      if (numInsertedOrUpdatedRows !== 1n) return false;
      await recordAudit(transaction, { actor, action: 'provider.disable', subject: provider, changes: [] });
      return true;
    });
  }

  /** Puts a provider back into service. Returns false if it was not out of service. */
  async enable(provider: string, actor: string): Promise<boolean> {
    return this.#database.transaction().execute(async (transaction) => {
      const { numDeletedRows } = await transaction.deleteFrom('disabled_providers').where('provider', '=', provider).executeTakeFirst();
      if (numDeletedRows !== 1n) return false;
      await recordAudit(transaction, { actor, action: 'provider.enable', subject: provider, changes: [] });
      return true;
    });
  }
}
