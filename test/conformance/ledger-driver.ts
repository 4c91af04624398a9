import { expect } from 'bun:test';
import type { Kysely } from 'kysely';
import { Accounts } from '../../src/accounts/accounts.ts';
import { Keys } from '../../src/accounts/keys.ts';
import { connect, type DatabasePlace } from '../../src/database/connect.ts';
import type { Dialect } from '../../src/database/dialect.ts';
import { migrate } from '../../src/database/migrate.ts';
import type { Tables } from '../../src/database/tables.ts';
import { postCredit } from '../../src/ledger/credit.ts';
import type { LedgerStore } from '../../src/ledger/ledger.ts';
import { asNanos } from '../../src/ledger/money.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import type { Owner } from '../ledger/operations.ts';

/** A database that can hold a ledger. */
export interface LedgerDriver {
  readonly name: string;
  readonly dialect: Dialect;
  /** Creates a database without rows. */
  make(): Promise<{ readonly place: DatabasePlace; remove(): Promise<void> }>;
  openStore(place: DatabasePlace, nodeId: string): Promise<LedgerStore>;
}

/** Tests hold money at arbitrary dates, so no hold counts as too old. */
export const LONGEST_REQUEST_MS = 1_000 * 365 * 86_400_000;

interface CreditOptions {
  readonly source?: string;
  readonly expiresAtMs?: number;
  readonly kind?: 'manual' | 'plan' | 'promo';
}

/** A migrated database, with helpers for tests. */
export class Books {
  readonly kysely: Kysely<Tables>;
  readonly keys: Keys;
  readonly accounts: Accounts;
  readonly place: DatabasePlace;
  readonly #driver: LedgerDriver;
  readonly #made: Awaited<ReturnType<LedgerDriver['make']>>;
  readonly #stores: LedgerStore[] = [];
  #count = 0;

  private constructor(driver: LedgerDriver, made: Awaited<ReturnType<LedgerDriver['make']>>, kysely: Kysely<Tables>) {
    this.#driver = driver;
    this.#made = made;
    this.place = made.place;
    this.kysely = kysely;
    this.keys = new Keys(kysely);
    this.accounts = new Accounts(kysely);
  }

  static async open(driver: LedgerDriver): Promise<Books> {
    const made = await driver.make();
    const { kysely } = await connect(made.place);
    await migrate(kysely, driver.dialect);
    return new Books(driver, made, kysely);
  }

  /** Opens the ledger as the process of this name. */
  async openStore(nodeId: string): Promise<LedgerStore> {
    const store = await this.#driver.openStore(this.place, nodeId);
    this.#stores.push(store);
    return store;
  }

  /** Creates an account with this much credit, and a key for it. */
  async makeOwner(nanos: bigint): Promise<Owner> {
    this.#count += 1;
    const account = await this.accounts.create(`owner-${this.#count}@example.com`, false);
    if (account === undefined) throw new Error('the address is taken');
    const owner = { accountId: account.id, keyId: (await this.keys.create(account.id, { name: 'test' })).id };
    if (nanos > 0n) await this.credit(owner, nanos);
    return owner;
  }

  async credit({ accountId }: Owner, nanos: bigint, { source, expiresAtMs, kind = 'manual' }: CreditOptions = {}) {
    this.#count += 1;
    const posting = { accountId, amount: asNanos(nanos), house: 'promo_expense', reason: 'test', kind } as const;
    return postCredit(this.kysely, { ...posting, source: source ?? `test:${this.#count}`, expiresAtMs });
  }

  /** Returns the account's balance and the amount held. */
  async money({ accountId }: Owner): Promise<{ balance: bigint; held: bigint }> {
    const wallet = await this.kysely.selectFrom('wallets').selectAll().where('account_id', '=', accountId).executeTakeFirstOrThrow();
    return { balance: wallet.credits_posted - wallet.debits_posted, held: wallet.debits_pending };
  }

  /** Returns what is left of the account's credits, in the order they were granted. */
  async remaining({ accountId }: Owner): Promise<bigint[]> {
    const grants = this.kysely.selectFrom('grants').select('remaining').where('account_id', '=', accountId);
    return (await grants.orderBy('created_at').orderBy('source').execute()).map((grant) => grant.remaining);
  }

  async usageOf(requestId: string) {
    return this.kysely.selectFrom('usage').selectAll().where('request_id', '=', requestId).executeTakeFirst();
  }

  /** Checks that everything stored twice agrees. */
  async expectSound(): Promise<void> {
    const checks = await verifyLedger(this.kysely, { longestRequestMs: LONGEST_REQUEST_MS });
    expect(checks.filter((check) => !check.ok)).toEqual([]);
  }

  async close(): Promise<void> {
    for (const store of this.#stores) await store.close();
    await this.kysely.destroy();
    await this.#made.remove();
  }
}
