import { sql, type Kysely } from 'kysely';
import type { Keys } from '../../src/accounts/keys.ts';
import { applyUse } from '../../src/accounts/plan-use.ts';
import { Plans } from '../../src/accounts/plans.ts';
import { openPostgres } from '../../src/database/postgres.ts';
import { openSqlite } from '../../src/database/sqlite.ts';
import type { Tables } from '../../src/database/tables.ts';
import { postCredit, postDebit } from '../../src/ledger/credit.ts';
import type { Operation, OperationResult } from '../../src/ledger/ledger.ts';
import { asNanos } from '../../src/ledger/money.ts';
import { verifyLedger, type CheckResult } from '../../src/ledger/verify.ts';
import { prepareApply } from '../../src/ledger/sqlite-apply.ts';
import { decodeResults, encodeOperations, type WireResult } from '../../src/ledger/wire.ts';
import { Books, LONGEST_REQUEST_MS, type LedgerDriver } from '../conformance/ledger-driver.ts';
import { RESETS_AT_MS } from './model.ts';
import type { Owner } from './operations.ts';
import { postgres } from './postgres-driver.ts';
import { sqlite } from './sqlite-driver.ts';
import type { Event } from './trace.ts';

/** A store to compare with the model. */
export interface Subject {
  readonly name: string;
  addOwners(owners: readonly Owner[]): Promise<void>;
  apply(operations: readonly Operation[]): Promise<readonly OperationResult[]>;
  handle(event: Event): Promise<'posted' | 'repeated' | undefined>;
  /** Continues as another process; all others count as dead. */
  restart(nodeId: string): Promise<void>;
  /** Returns the same as `LedgerModel.describe`, from the database. */
  describe(owners: readonly Owner[]): Promise<string[]>;
  verify(owners: readonly Owner[]): Promise<CheckResult[]>;
  close(): Promise<void>;
}

/** Opens the embedded database without its worker, which would only cost time. */
export async function openSqliteSubject(): Promise<Subject> {
  const books = await Books.open(sqlite);
  const database = openSqlite(books.place.databasePath);
  // This is about arithmetic, not power failures.
  database.run('PRAGMA synchronous = OFF');
  let apply = prepareApply(database, '');
  return {
    ...subjectOn(books, sqlite),
    apply: async (operations) => apply(operations),
    restart: async (nodeId) => {
      apply = prepareApply(database, nodeId);
    },
    close: async () => {
      database.close();
      await books.close();
    },
  };
}

/** Opens PostgreSQL with a single connection: on a new one, its functions would have to be planned again. */
export async function openPostgresSubject(): Promise<Subject> {
  const books = await Books.open(postgres);
  const pool = openPostgres(books.place.databaseUrl ?? '', { connectionsMax: 1, statementMs: undefined });
  let node = '';
  return {
    ...subjectOn(books, postgres),
    apply: async (operations) => {
      const values = [encodeOperations(operations), node];
      const { rows } = await pool.query<{ results: WireResult[] }>('SELECT ledger_apply($1::JSONB, $2) AS results', values);
      return decodeResults(rows[0]?.results ?? []);
    },
    restart: async (nodeId) => {
      // A node counts as dead when it has been silent for a while. Here that happens at once.
      await books.kysely.deleteFrom('nodes').execute();
      node = nodeId;
    },
    close: async () => {
      await pool.end();
      await books.close();
    },
  };
}

function subjectOn(books: Books, { name }: LedgerDriver): Pick<Subject, 'name' | 'addOwners' | 'handle' | 'describe' | 'verify'> {
  const { kysely, keys } = books;
  return {
    name,
    addOwners: (owners) => addOwners(kysely, owners),
    handle: (event) => handle(kysely, keys, event),
    describe: (owners) => describe(kysely, owners),
    verify: async (owners) => {
      const accountIds = owners.map((owner) => owner.accountId);
      const checks = await verifyLedger(kysely, { accountIds, longestRequestMs: LONGEST_REQUEST_MS });
      return checks.filter((check) => !check.ok);
    },
  };
}

/** Uses the same ids in every database. */
async function addOwners(database: Kysely<Tables>, owners: readonly Owner[]): Promise<void> {
  const accountIds = [...new Set(owners.map((owner) => owner.accountId))];
  const account = { status: 'active', is_admin: 0, created_at: 0 } as const;
  await database
    .insertInto('accounts')
    .values(accountIds.map((id) => ({ ...account, id, email: id })))
    .execute();
  const wallet = { credits_posted: 0, debits_posted: 0, debits_pending: 0 };
  await database
    .insertInto('wallets')
    .values(accountIds.map((id) => ({ ...wallet, account_id: id })))
    .execute();
  await addPlans(database);
  const period = { anchor: 0, turn: 0, period_start: 0, period_end: RESETS_AT_MS, ends_with_period: 0 };
  const subscription = { ...period, plan_id: 'plan', status: 'active', pays_by: 'nobody', reason: '', created_at: 0 } as const;
  await database
    .insertInto('subscriptions')
    .values(accountIds.map((id) => ({ ...subscription, id: `sub_${id}`, account_id: id })))
    .execute();
  const settings = { models: null, requests_per_minute: null, tokens_per_minute: null, concurrent: null, expires_at: null };
  const key = { ...settings, name: 'test', created_at: 0, deleted_at: null };
  await database
    .insertInto('api_keys')
    .values(owners.map(({ accountId, keyId }) => ({ ...key, id: keyId, account_id: accountId })))
    .execute();
}

/** Adds one plan per way of using its credit, named after it. */
async function addPlans(database: Kysely<Tables>): Promise<void> {
  if ((await database.selectFrom('plans').select('id').executeTakeFirst()) !== undefined) return;
  const plans = new Plans(database);
  const plan = { name: 'test', price: asNanos(0n), interval: 'month', included: asNanos(0n), isOffered: true } as const;
  await plans.save({ ...plan, id: 'plan', useFirst: 'plan', overflow: 'balance' }, 'command');
  await plans.save({ ...plan, id: 'balance', useFirst: 'balance', overflow: 'balance' }, 'command');
  await plans.save({ ...plan, id: 'stop', useFirst: 'plan', overflow: 'stop' }, 'command');
}

async function handle(database: Kysely<Tables>, keys: Keys, event: Event): Promise<'posted' | 'repeated' | undefined> {
  switch (event.type) {
    case 'credit':
      return database.transaction().execute(async (transaction) => {
        const posting = { ...event, amount: asNanos(event.amount), house: 'promo_expense', reason: 'test' } as const;
        const result = await postCredit(transaction, posting);
        await applyUse(transaction, event.accountId);
        return result;
      });
    case 'debit':
      return postDebit(database, { ...event, amount: asNanos(event.amount), house: 'promo_expense', kind: 'refund', reason: 'test' });
    case 'use':
      await database.transaction().execute(async (transaction) => {
        await transaction.updateTable('subscriptions').set({ plan_id: event.use }).where('account_id', '=', event.accountId).execute();
        await applyUse(transaction, event.accountId);
      });
      return undefined;
    case 'budget':
      await keys.setBudget(event.keyId, event.period, event.amount === undefined ? undefined : asNanos(event.amount));
      return undefined;
    case 'commit':
    case 'restart':
      return undefined;
  }
}

interface Row {
  readonly part: string;
  readonly name: string;
  readonly first: bigint;
  readonly second: bigint;
  readonly third: bigint;
}

/** One statement, because it runs after every batch. */
async function describe(database: Kysely<Tables>, owners: readonly Owner[]): Promise<string[]> {
  const accountIds = [...new Set(owners.map((owner) => owner.accountId))];
  const accounts = sql.join(accountIds);
  const wallets = sql.join(accountIds.map((id) => `wallet:${id}`));
  const { rows } = await sql<Row>`
    SELECT 'wallet' AS part, account_id AS name, credits_posted AS first, debits_posted AS second, debits_pending AS third
      FROM wallets WHERE account_id IN (${accounts})
    UNION ALL SELECT 'hold', id, amount, progress, 0 FROM holds WHERE account_id IN (${accounts})
    UNION ALL SELECT 'grant', account_id || '|' || kind || '|' || COALESCE(CAST(expires_at AS TEXT), 'never'), SUM(remaining), 0, 0
      FROM grants WHERE account_id IN (${accounts}) GROUP BY account_id, kind, expires_at
    UNION ALL SELECT 'budget', key_id || '|' || period, spent, held, window_start
      FROM key_budgets WHERE key_id IN (${sql.join(owners.map((owner) => owner.keyId))})
    UNION ALL SELECT 'transfer', debit || '|' || credit, SUM(amount), COUNT(*), 0
      FROM transfers WHERE debit IN (${wallets}) GROUP BY debit, credit
    UNION ALL SELECT 'transfer', debit || '|' || credit, SUM(amount), COUNT(*), 0
      FROM transfers WHERE credit IN (${wallets}) AND credit <> 'revenue' GROUP BY debit, credit`.execute(database);
  return rows.map(({ part, name, first, second, third }) => `${part} ${name} ${first} ${second} ${third}`).toSorted();
}
