import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { makeId } from '../ids.ts';
import { windowStartMs } from '../ledger/budget.ts';
import type { BudgetPeriod } from '../ledger/ledger.ts';
import { asNanos, type Nanos } from '../ledger/money.ts';
import { hashSecret, makeSecret, shownParts } from './key-secret.ts';
import { withinPlan } from './plan-limits.ts';
import { readPlanLimits } from './plans.ts';

/** What the maker of a key may fix; absent means no limit of its own. */
export interface KeySettings {
  readonly name: string;
  readonly models?: readonly string[] | undefined;
  readonly requestsPerMinute?: number | undefined;
  readonly tokensPerMinute?: number | undefined;
  readonly concurrent?: number | undefined;
  readonly expiresAtMs?: number | undefined;
}

/** A secret just made; it cannot be had a second time. */
export interface FreshKey {
  readonly id: string;
  readonly secret: string;
  readonly prefix: string;
  readonly lastFour: string;
}

/** What a key may spend in a period, and what it has. */
export interface KeyBudget {
  readonly period: BudgetPeriod;
  readonly amount: Nanos;
  readonly spent: Nanos;
  readonly held: Nanos;
}

/** A key as the list shows it. */
export interface ListedKey extends KeySettings {
  readonly id: string;
  readonly createdAtMs: number;
  readonly budgets: readonly KeyBudget[];
  /** Newest first; more than one while a rotation overlaps. */
  readonly secrets: readonly { readonly prefix: string; readonly lastFour: string; readonly expiresAtMs: number | undefined }[];
}

/** What the gate needs to know about the holder of a secret. */
export interface KeyHolder extends KeySettings {
  readonly keyId: string;
  readonly accountId: string;
  readonly accountStatus: 'active' | 'suspended';
}

/** The API keys: the name and limits of each, and the hashes of its secrets. */
export class Keys {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  async create(accountId: string, settings: KeySettings): Promise<FreshKey> {
    const id = makeId('key');
    const fresh = { id, ...makeFresh() };
    await this.#database.transaction().execute(async (transaction) => {
      await transaction
        .insertInto('api_keys')
        .values({
          id,
          account_id: accountId,
          name: settings.name,
          models: settings.models === undefined ? null : JSON.stringify(settings.models),
          requests_per_minute: settings.requestsPerMinute ?? null,
          tokens_per_minute: settings.tokensPerMinute ?? null,
          concurrent: settings.concurrent ?? null,
          expires_at: settings.expiresAtMs ?? null,
          created_at: Date.now(),
          deleted_at: null,
        })
        .execute();
      await transaction.insertInto('key_secrets').values(secretRow(fresh)).execute();
    });
    return fresh;
  }

  /** Gives a key a new secret; its old ones live on for the overlap. Undefined when there is no such key. */
  async rotate(id: string, overlapMs: number): Promise<FreshKey | undefined> {
    const fresh = { id, ...makeFresh() };
    const endsAtMs = Date.now() + overlapMs;
    return this.#database.transaction().execute(async (transaction) => {
      const key = await transaction
        .selectFrom('api_keys')
        .select('id')
        .where('id', '=', id)
        .where('deleted_at', 'is', null)
        .executeTakeFirst();
      if (key === undefined) return undefined;
      await transaction
        .updateTable('key_secrets')
        .set({ expires_at: endsAtMs })
        .where('key_id', '=', id)
        // An overlap that ends sooner stays as it is: rotating twice must not prolong the first secret.
        .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', BigInt(endsAtMs))]))
        .execute();
      await transaction.insertInto('key_secrets').values(secretRow(fresh)).execute();
      return fresh;
    });
  }

  /** Ends a key and all its secrets at once; false when there is no such key. */
  async delete(id: string): Promise<boolean> {
    const result = await this.#database
      .updateTable('api_keys')
      .set({ deleted_at: Date.now() })
      .where('id', '=', id)
      .where('deleted_at', 'is', null)
      .executeTakeFirst();
    return result.numUpdatedRows === 1n;
  }

  async list(accountId: string): Promise<ListedKey[]> {
    const keys = await this.#database
      .selectFrom('api_keys')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('deleted_at', 'is', null)
      .orderBy('created_at')
      .execute();
    const secrets = await this.#database
      .selectFrom('key_secrets')
      .innerJoin('api_keys', 'api_keys.id', 'key_secrets.key_id')
      .selectAll('key_secrets')
      .where('api_keys.account_id', '=', accountId)
      .orderBy('key_secrets.created_at', 'desc')
      .execute();
    const budgets = await this.#listBudgets(accountId);
    const nowMs = Date.now();
    return keys.map((row) => ({
      id: row.id,
      createdAtMs: Number(row.created_at),
      ...readSettings(row),
      budgets: budgets.filter((budget) => budget.keyId === row.id),
      secrets: secrets
        .filter((secret) => secret.key_id === row.id && (secret.expires_at === null || secret.expires_at > nowMs))
        .map((secret) => ({ prefix: secret.prefix, lastFour: secret.last_four, expiresAtMs: readOptional(secret.expires_at) })),
    }));
  }

  /** Sets what a key may spend in a period, or lifts that; false when there is no such key. What was spent stays counted. */
  async setBudget(id: string, period: BudgetPeriod, amount: Nanos | undefined): Promise<boolean> {
    return this.#database.transaction().execute(async (transaction) => {
      // The wallet's lock keeps requests of the key from beginning or ending between the sum and the insert. It comes
      // first: on the embedded database, a transaction that has read is refused a later write when another one wrote.
      const { numUpdatedRows } = await transaction
        .updateTable('wallets')
        .set((expression) => ({ debits_pending: expression.ref('debits_pending') }))
        .where('account_id', '=', (where) =>
          where.selectFrom('api_keys').select('account_id').where('id', '=', id).where('deleted_at', 'is', null),
        )
        .executeTakeFirst();
      if (numUpdatedRows !== 1n) return false;
      if (amount === undefined) {
        await transaction.deleteFrom('key_budgets').where('key_id', '=', id).where('period', '=', period).execute();
        return true;
      }
      const open = await transaction
        .selectFrom('holds')
        .select(({ fn }) => fn.sum<bigint | null>('amount').as('held'))
        .where('key_id', '=', id)
        .executeTakeFirst();
      const window = BigInt(windowStartMs(period, Date.now()));
      await transaction
        .insertInto('key_budgets')
        .values({ key_id: id, period, amount, spent: 0n, held: open?.held ?? 0n, window_start: window })
        .onConflict((conflict) => conflict.columns(['key_id', 'period']).doUpdateSet({ amount }))
        .execute();
      return true;
    });
  }

  async #listBudgets(accountId: string): Promise<(KeyBudget & { readonly keyId: string })[]> {
    const rows = await this.#database
      .selectFrom('key_budgets')
      .innerJoin('api_keys', 'api_keys.id', 'key_budgets.key_id')
      .selectAll('key_budgets')
      .where('api_keys.account_id', '=', accountId)
      .orderBy('period')
      .execute();
    const nowMs = Date.now();
    return rows.map((row) => ({
      keyId: row.key_id,
      period: row.period,
      amount: asNanos(row.amount),
      // A window that is over resets with the next request; until then its sum is of the past.
      spent: asNanos(Number(row.window_start) < windowStartMs(row.period, nowMs) ? 0n : row.spent),
      held: asNanos(row.held),
    }));
  }

  /** Who holds the secret with this hash: undefined when nobody does any more. */
  async findHolder(hash: string): Promise<KeyHolder | undefined> {
    const row = await this.#database
      .selectFrom('key_secrets')
      .innerJoin('api_keys', 'api_keys.id', 'key_secrets.key_id')
      .innerJoin('accounts', 'accounts.id', 'api_keys.account_id')
      .selectAll('api_keys')
      .select(['key_secrets.expires_at as secret_expires_at', 'accounts.status'])
      .where('key_secrets.hash', '=', hash)
      .where('api_keys.deleted_at', 'is', null)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const settings = await this.#withinPlan(row.account_id, readSettings(row));
    const secretExpiresAtMs = readOptional(row.secret_expires_at);
    return {
      keyId: row.id,
      accountId: row.account_id,
      accountStatus: row.status,
      ...settings,
      expiresAtMs: earliest(settings.expiresAtMs, secretExpiresAtMs),
    };
  }

  /** What the key may do with the plan that its account has. Remembered with the holder: a change of plans is felt like a change of keys. */
  async #withinPlan(accountId: string, settings: KeySettings): Promise<KeySettings> {
    const plan = await this.#database
      .selectFrom('subscriptions')
      .innerJoin('plans', 'plans.id', 'subscriptions.plan_id')
      .select(['plans.models', 'plans.requests_per_minute', 'plans.tokens_per_minute', 'plans.concurrent'])
      .where('subscriptions.account_id', '=', accountId)
      .where('subscriptions.status', '<>', 'ended')
      .executeTakeFirst();
    return plan === undefined ? settings : withinPlan(settings, readPlanLimits(plan));
  }

  /** Grows with every change of an account or key, whichever process made it. */
  async changeCounter(): Promise<bigint> {
    const row = await this.#database.selectFrom('changes').select('counter').executeTakeFirstOrThrow();
    return row.counter;
  }
}

function makeFresh(): Omit<FreshKey, 'id'> {
  const secret = makeSecret();
  return { secret, ...shownParts(secret) };
}

function secretRow(fresh: FreshKey): {
  hash: string;
  key_id: string;
  prefix: string;
  last_four: string;
  created_at: number;
  expires_at: null;
} {
  return {
    hash: hashSecret(fresh.secret),
    key_id: fresh.id,
    prefix: fresh.prefix,
    last_four: fresh.lastFour,
    created_at: Date.now(),
    expires_at: null,
  };
}

interface SettingsRow {
  readonly name: string;
  readonly models: string | null;
  readonly requests_per_minute: bigint | null;
  readonly tokens_per_minute: bigint | null;
  readonly concurrent: bigint | null;
  readonly expires_at: bigint | null;
}

function readSettings(row: SettingsRow): KeySettings {
  return {
    name: row.name,
    models: row.models === null ? undefined : (JSON.parse(row.models) as string[]),
    requestsPerMinute: readOptional(row.requests_per_minute),
    tokensPerMinute: readOptional(row.tokens_per_minute),
    concurrent: readOptional(row.concurrent),
    expiresAtMs: readOptional(row.expires_at),
  };
}

function readOptional(value: bigint | null): number | undefined {
  return value === null ? undefined : Number(value);
}

function earliest(first: number | undefined, second: number | undefined): number | undefined {
  return first === undefined || (second !== undefined && second < first) ? second : first;
}
