import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { makeId } from '../ids.ts';
import { asNanos, NO_MONEY, type Nanos } from '../ledger/money.ts';

/** Who owns keys and pays. */
export interface Account {
  readonly id: string;
  readonly email: string;
  readonly status: 'active' | 'suspended';
  readonly isAdmin: boolean;
  readonly balance: Nanos;
  readonly held: Nanos;
  readonly createdAtMs: number;
}

/** The accounts and what is credited to them. */
export class Accounts {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  /** Makes an account with an empty wallet; undefined when the address is taken. */
  async create(email: string, isAdmin: boolean): Promise<Account | undefined> {
    const id = makeId('acct');
    const isMade = await this.#database.transaction().execute(async (transaction) => {
      const inserted = await transaction
        .insertInto('accounts')
        .values({ id, email, status: 'active', is_admin: isAdmin ? 1 : 0, created_at: Date.now() })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      if (inserted.numInsertedOrUpdatedRows !== 1n) return false;
      await transaction.insertInto('wallets').values({ account_id: id, balance: 0, held: 0 }).execute();
      return true;
    });
    return isMade ? this.find(email) : undefined;
  }

  async find(email: string): Promise<Account | undefined> {
    const row = await this.#database
      .selectFrom('accounts')
      .innerJoin('wallets', 'wallets.account_id', 'accounts.id')
      .selectAll('accounts')
      .select(['wallets.balance', 'wallets.held'])
      .where('email', '=', email)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    return {
      id: row.id,
      email: row.email,
      status: row.status,
      isAdmin: row.is_admin === 1n,
      balance: asNanos(row.balance),
      held: asNanos(row.held),
      createdAtMs: Number(row.created_at),
    };
  }

  /** Adds money (or takes it, when negative) with a reason: an entry of its own, never an overwritten balance. */
  async credit(account: Account, amount: Nanos, reason: string): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      await transaction
        .insertInto('credits')
        .values({ id: makeId('cred'), account_id: account.id, amount, reason, created_at: Date.now() })
        .execute();
      await transaction
        .updateTable('wallets')
        .set((expression) => ({ balance: expression('balance', '+', amount) }))
        .where('account_id', '=', account.id)
        .execute();
    });
  }

  async setStatus(account: Account, status: Account['status']): Promise<void> {
    await this.#database.updateTable('accounts').set({ status }).where('id', '=', account.id).execute();
  }

  /** True until somebody made the first account: the very first start. */
  async isEmpty(): Promise<boolean> {
    const row = await this.#database.selectFrom('accounts').select('id').limit(1).executeTakeFirst();
    return row === undefined;
  }
}

/** What an account can spend now. */
export function availableOf(account: Account): Nanos {
  const available = account.balance - account.held;
  return available > 0n ? asNanos(available) : NO_MONEY;
}
