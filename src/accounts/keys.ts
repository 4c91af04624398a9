import type { Kysely, Selectable, Transaction } from 'kysely';
import { readOptional } from '../database/columns.ts';
import type { Tables } from '../database/tables.ts';
import { inTransaction } from '../database/in-transaction.ts';
import { parseAddressRange, type AddressRange } from '../http/address-range.ts';
import { makeId } from '../ids.ts';
import { withTimeout } from '../with-timeout.ts';
import { lockWallet } from '../ledger/credit.ts';
import { BUDGET_PERIODS, type BudgetPeriod } from '../ledger/ledger.ts';
import { formatUsd, type Nanos } from '../ledger/money.ts';
import { differences, COMMAND_LINE, recordAudit, type AuditValue } from './audit.ts';
import { readBudgets, writeBudgets, type BudgetChange } from './key-budgets.ts';
import { readKeys, type ListedKey } from './key-list.ts';
import { hashSecret, makeSecret, shownParts } from './key-secret.ts';
import { lockKeys } from './lock-keys.ts';
import { smaller, withinPlan, type PlanLimits } from './plan-limits.ts';
import { readPlanLimits } from './plans.ts';
import { readSettings, toColumns, type KeySettings, type SettingsChange } from './key-settings.ts';

/** A key to create. */
export interface NewKey extends SettingsChange {
  readonly name: string;
  readonly budgets?: BudgetChange | undefined;
}

/** A change to a key. */
export interface KeyChange extends SettingsChange {
  readonly budgets?: BudgetChange | undefined;
  readonly isDisabled?: boolean | undefined;
}

/** Matches every account: on the command line the operator may change any key. */
export const ANY_ACCOUNT = '*';

/** The key to change, and who changes it. The key must belong to the account. */
export interface KeyRequest {
  readonly id: string;
  readonly accountId: string;
  /** The actor in the audit log. */
  readonly actor: string;
}

/** A new secret. It cannot be read again later. */
export interface FreshKey {
  readonly id: string;
  readonly secret: string;
  readonly prefix: string;
  readonly lastFour: string;
}

/** The key and account behind a secret, as the gateway needs them. */
export interface KeyHolder extends KeySettings {
  readonly keyId: string;
  readonly accountId: string;
  readonly accountStatus: 'active' | 'suspended';
  readonly isDisabled: boolean;
  readonly addressRanges: readonly AddressRange[] | undefined;
  /** How many days prompts and answers are kept; undefined if they are not recorded. */
  readonly contentDays?: number | undefined;
}

/** The most keys per account. More than this is a script's mistake. */
export const KEYS_MAX = 1000;
/** The most secrets of one key that are valid at once: each is another place to search when one leaks. */
export const SECRETS_MAX = 10;

/** Timeout for looking up a key, the same as for a hold. */
const LOOK_UP_MS = 5000;

/** How long a trial secret is valid, and the most trial secrets at once. */
export const TRIAL_MS = 60_000;
const TRIALS_MAX = 5;

/** API keys: their names, limits and hashed secrets. Every change leaves an entry in the audit log. */
export class Keys {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  /** Creates a key. Does not check how many keys the account has: see `createWithinLimit`. */
  async create(accountId: string, { budgets = {}, ...settings }: NewKey, actor: string = COMMAND_LINE): Promise<FreshKey> {
    const id = makeId('key');
    const fresh = { id, ...makeFresh() };
    const nowMs = Date.now();
    await inTransaction(this.#database, async (transaction) => {
      await lockWallet(transaction, accountId);
      await transaction
        .insertInto('api_keys')
        .values({ ...toColumns(settings), name: settings.name, id, account_id: accountId, created_at: nowMs, updated_at: nowMs })
        .execute();
      await transaction.insertInto('key_secrets').values(secretRow(fresh)).execute();
      const rules = { atLimit: settings.atLimit ?? 'stop', limitZone: settings.limitZone ?? 'UTC' };
      await writeBudgets(transaction, { id, ...rules }, budgets);
      const changes = differences({}, { ...settings, ...auditedBudgets(budgets), secret: shownSecret(fresh) });
      await recordAudit(transaction, { actor, action: 'key.create', subject: id, changes });
    });
    return fresh;
  }

  /** Creates a key, or returns undefined if the account has the maximum number of keys. */
  async createWithinLimit(accountId: string, key: NewKey, actor: string): Promise<FreshKey | undefined> {
    return inTransaction(this.#database, async (transaction) => {
      await lockKeys(transaction, accountId);
      const { keys } = await transaction
        .selectFrom('api_keys')
        .select(({ fn }) => fn.countAll<bigint>().as('keys'))
        .where('account_id', '=', accountId)
        .where('deleted_at', 'is', null)
        .executeTakeFirstOrThrow();
      return keys >= KEYS_MAX ? undefined : new Keys(transaction).create(accountId, key, actor);
    });
  }

  /** Changes a key. Returns false if there is no such key. What a budget has counted stays counted. */
  async update(request: KeyRequest, change: KeyChange): Promise<boolean> {
    return this.#change(request, async (transaction, row) => {
      const before = await describe(transaction, row);
      const disabledAt = change.isDisabled === true ? (row.disabled_at ?? Date.now()) : null;
      await transaction
        .updateTable('api_keys')
        .set({ ...toColumns(change), ...(change.isDisabled === undefined ? {} : { disabled_at: disabledAt }), updated_at: Date.now() })
        .where('id', '=', request.id)
        .execute();
      const after = await transaction.selectFrom('api_keys').selectAll().where('id', '=', request.id).executeTakeFirstOrThrow();
      const { id, at_limit: atLimit, limit_zone: limitZone } = after;
      await writeBudgets(transaction, { id, atLimit, limitZone }, change.budgets ?? {});
      const changes = differences(before, await describe(transaction, after));
      if (changes.length > 0) await recordAudit(transaction, { ...auditOf(request, 'key.update'), changes });
      return true;
    });
  }

  /** Sets a key's budget for a period, or removes it. Returns false if there is no such key. */
  async setBudget(id: string, period: BudgetPeriod, amount: Nanos | undefined): Promise<boolean> {
    return this.update({ id, accountId: ANY_ACCOUNT, actor: COMMAND_LINE }, { budgets: { [period]: amount ?? null } });
  }

  /** Gives a key a new secret. Its old ones stay valid for the overlap. */
  async rotate(request: KeyRequest, overlapMs: number): Promise<FreshKey | 'no_such_key' | 'too_many_secrets'> {
    const fresh = { id: request.id, ...makeFresh() };
    const nowMs = Date.now();
    const result = await this.#change(request, async (transaction) => {
      if (overlapMs > 0 && (await countSecrets(transaction, { keyId: request.id, isTrial: false, nowMs })) >= SECRETS_MAX)
        return 'too_many_secrets';
      // An overlap that ends sooner stays as it is: rotating twice must not extend the first secret.
      const ended = await endSecrets(transaction, request.id, { endsAtMs: nowMs + overlapMs });
      await transaction.insertInto('key_secrets').values(secretRow(fresh)).execute();
      const changes = [
        { field: 'secret', before: ended, after: shownSecret(fresh) },
        { field: 'oldSecretUntilMs', before: null, after: nowMs + overlapMs },
      ];
      await recordAudit(transaction, { ...auditOf(request, 'key.rotate'), changes });
      return fresh;
    });
    return result === false ? 'no_such_key' : result;
  }

  /** Creates a secret for one test call from the dashboard. It expires soon by itself. */
  async makeTrial(request: KeyRequest): Promise<FreshKey | 'no_such_key' | 'too_many_secrets'> {
    const fresh = { id: request.id, ...makeFresh() };
    const nowMs = Date.now();
    const result = await this.#change(request, async (transaction) => {
      await transaction
        .deleteFrom('key_secrets')
        .where('key_id', '=', request.id)
        .where('is_trial', '=', 1n)
        .where('expires_at', '<=', BigInt(nowMs))
        .execute();
      if ((await countSecrets(transaction, { keyId: request.id, isTrial: true, nowMs })) >= TRIALS_MAX) return 'too_many_secrets';
      await transaction
        .insertInto('key_secrets')
        .values({ ...secretRow(fresh), expires_at: nowMs + TRIAL_MS, is_trial: 1 })
        .execute();
      await recordAudit(transaction, { ...auditOf(request, 'key.try'), changes: [] });
      return fresh;
    });
    return result === false ? 'no_such_key' : result;
  }

  /** Expires all secrets but the newest now. Returns false if there is no such key. */
  async endOverlap(request: KeyRequest): Promise<boolean> {
    return this.#change(request, async (transaction) => {
      const nowMs = Date.now();
      const ended = await endSecrets(transaction, request.id, { endsAtMs: nowMs, isOverlap: true });
      if (ended.length === 0) return true;
      const changes = [{ field: 'secret', before: ended, after: null }];
      await recordAudit(transaction, { ...auditOf(request, 'key.end_overlap'), changes });
      return true;
    });
  }

  /** Deletes a key; all its secrets stop working at once. Returns false if there is no such key. */
  async delete(request: KeyRequest): Promise<boolean> {
    return this.#change(request, async (transaction, row) => {
      await transaction.updateTable('api_keys').set({ deleted_at: Date.now() }).where('id', '=', request.id).execute();
      const changes = [{ field: 'name', before: row.name, after: null }];
      await recordAudit(transaction, { ...auditOf(request, 'key.delete'), changes });
      return true;
    });
  }

  /** Returns the keys of an account, without deleted ones, oldest first. */
  list(accountId: string): Promise<ListedKey[]> {
    return readKeys(this.#database, accountId);
  }

  /** Returns one key of an account, unless it is deleted. */
  async find(accountId: string, id: string): Promise<ListedKey | undefined> {
    const [key] = await readKeys(this.#database, accountId, id);
    return key;
  }

  /** Returns the key and account behind the secret with this hash; undefined if the secret is unknown or its key is deleted. */
  async findHolder(hash: string): Promise<KeyHolder | undefined> {
    return withTimeout('The database', this.#findHolder(hash), LOOK_UP_MS);
  }

  async #findHolder(hash: string): Promise<KeyHolder | undefined> {
    const row = await this.#database
      .selectFrom('key_secrets')
      .innerJoin('api_keys', 'api_keys.id', 'key_secrets.key_id')
      .innerJoin('accounts', 'accounts.id', 'api_keys.account_id')
      .leftJoin('content_logging', 'content_logging.account_id', 'accounts.id')
      .selectAll('api_keys')
      .select(['key_secrets.expires_at as secret_expires_at', 'accounts.status', 'content_logging.days as content_days'])
      .where('key_secrets.hash', '=', hash)
      .where('api_keys.deleted_at', 'is', null)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const plan = await this.planLimits(row.account_id);
    // The result is cached with the key holder; a change of plan refreshes it like a change of keys.
    const settings = plan === undefined ? readSettings(row) : withinPlan(readSettings(row), plan);
    return {
      keyId: row.id,
      accountId: row.account_id,
      accountStatus: row.status,
      isDisabled: row.disabled_at !== null,
      // A range that cannot be parsed is dropped, which only makes the list stricter.
      addressRanges: settings.addresses?.map((text) => parseAddressRange(text)).filter((range) => range !== undefined),
      contentDays: readOptional(row.content_days),
      ...settings,
      expiresAtMs: smaller(settings.expiresAtMs, readOptional(row.secret_expires_at)),
    };
  }

  /** Returns the limits of an account's plan; undefined without a plan. */
  async planLimits(accountId: string): Promise<PlanLimits | undefined> {
    const plan = await this.#database
      .selectFrom('subscriptions')
      .innerJoin('plans', 'plans.id', 'subscriptions.plan_id')
      .select(['plans.models', 'plans.requests_per_minute', 'plans.tokens_per_minute', 'plans.concurrent'])
      .where('subscriptions.account_id', '=', accountId)
      .where('subscriptions.status', '<>', 'ended')
      .executeTakeFirst();
    return plan === undefined ? undefined : readPlanLimits(plan);
  }

  /**
   * Runs work on a locked key of a locked wallet; returns false if there is no such key. The write finds and locks the key in one step.
   */
  #change<Result>(
    { id, accountId }: KeyRequest,
    work: (transaction: Transaction<Tables>, row: KeyRow) => Promise<Result>,
  ): Promise<Result | false> {
    return inTransaction(this.#database, async (transaction) => {
      await lockWallet(transaction, transaction.selectFrom('api_keys').select('account_id').where('id', '=', id));
      const row = await transaction
        .updateTable('api_keys')
        .set({ updated_at: Date.now() })
        .where('id', '=', id)
        .where('deleted_at', 'is', null)
        .$if(accountId !== ANY_ACCOUNT, (query) => query.where('account_id', '=', accountId))
        .returningAll()
        .executeTakeFirst();
      return row === undefined ? false : work(transaction, row);
    });
  }
}

type KeyRow = Selectable<Tables['api_keys']>;

function makeFresh(): Omit<FreshKey, 'id'> {
  const secret = makeSecret();
  return { secret, ...shownParts(secret) };
}

function secretRow(fresh: FreshKey): { hash: string; key_id: string; prefix: string; last_four: string; created_at: number } {
  const { prefix, lastFour } = fresh;
  return { hash: hashSecret(fresh.secret), key_id: fresh.id, prefix, last_four: lastFour, created_at: Date.now() };
}

interface Ending {
  /** Secrets that expire sooner stay as they are. */
  readonly endsAtMs: number;
  /** Affects only secrets that a rotation has given an expiry. */
  readonly isOverlap?: boolean;
}

async function endSecrets(transaction: Transaction<Tables>, keyId: string, ending: Ending): Promise<string[]> {
  const rows = await transaction
    .updateTable('key_secrets')
    .set({ expires_at: ending.endsAtMs })
    .where('key_id', '=', keyId)
    .where((where) => {
      const isLater = where('expires_at', '>', BigInt(ending.endsAtMs));
      return ending.isOverlap === true ? isLater : where.or([where('expires_at', 'is', null), isLater]);
    })
    .returning(['prefix', 'last_four'])
    .execute();
  return rows.map((row) => shownSecret({ prefix: row.prefix, lastFour: row.last_four }));
}

async function countSecrets(
  transaction: Transaction<Tables>,
  { keyId, isTrial, nowMs }: { readonly keyId: string; readonly isTrial: boolean; readonly nowMs: number },
): Promise<bigint> {
  const { secrets } = await transaction
    .selectFrom('key_secrets')
    .select(({ fn }) => fn.countAll<bigint>().as('secrets'))
    .where('key_id', '=', keyId)
    .where('is_trial', '=', isTrial ? 1n : 0n)
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', BigInt(nowMs))]))
    .executeTakeFirstOrThrow();
  return secrets;
}

/** Describes a key for the audit log. */
async function describe(transaction: Transaction<Tables>, row: KeyRow): Promise<Record<string, AuditValue>> {
  const keyIds = transaction.selectFrom('api_keys').select('id').where('id', '=', row.id);
  const budgets = (await readBudgets(transaction, keyIds)).get(row.id) ?? [];
  const amounts = Object.fromEntries(budgets.map(({ period, amount }) => [period, amount]));
  return { ...readSettings(row), ...auditedBudgets(amounts), isDisabled: row.disabled_at !== null };
}

function auditedBudgets(budgets: BudgetChange): Record<string, AuditValue> {
  return Object.fromEntries(
    BUDGET_PERIODS.map((period) => {
      const amount = budgets[period] ?? undefined;
      return [`budget.${period}`, amount === undefined ? undefined : formatUsd(amount)];
    }),
  );
}

function auditOf({ id, actor }: KeyRequest, action: string): { readonly actor: string; readonly action: string; readonly subject: string } {
  return { actor, action, subject: id };
}

function shownSecret({ prefix, lastFour }: { readonly prefix: string; readonly lastFour: string }): string {
  return `${prefix}…${lastFour}`;
}
