import type { Kysely, Selectable, Transaction } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { within } from '../database/within.ts';
import { parseAddressRange, type AddressRange } from '../http/address-range.ts';
import { makeId } from '../ids.ts';
import { inTime } from '../in-time.ts';
import { BUDGET_PERIODS, type BudgetPeriod } from '../ledger/ledger.ts';
import { formatUsd, type Nanos } from '../ledger/money.ts';
import { differences, COMMAND_LINE, recordAudit, type AuditValue } from './audit.ts';
import { readBudgets, writeBudgets, type BudgetChange } from './key-budgets.ts';
import { readKeys, type ListedKey } from './key-list.ts';
import { hashSecret, makeSecret, shownParts } from './key-secret.ts';
import { lockKeys } from './lock-keys.ts';
import { withinPlan } from './plan-limits.ts';
import { readPlanLimits } from './plans.ts';
import { readOptional, readSettings, toColumns, type KeySettings, type SettingsChange } from './key-settings.ts';

/** A key to be made. */
export interface NewKey extends SettingsChange {
  readonly name: string;
  readonly budgets?: BudgetChange | undefined;
}

/** What is to be different about a key. */
export interface KeyChange extends SettingsChange {
  readonly budgets?: BudgetChange | undefined;
  readonly isDisabled?: boolean | undefined;
}

/** Stands for all accounts: on the command line the operator may change any key. */
export const ANY_ACCOUNT = '*';

/** Which key is meant, and by whom. It must belong to the account. */
export interface KeyRequest {
  readonly id: string;
  readonly accountId: string;
  /** Who is told in the audit. */
  readonly actor: string;
}

/** A secret just made; it cannot be had a second time. */
export interface FreshKey {
  readonly id: string;
  readonly secret: string;
  readonly prefix: string;
  readonly lastFour: string;
}

/** What the gate needs to know about the holder of a secret. */
export interface KeyHolder extends KeySettings {
  readonly keyId: string;
  readonly accountId: string;
  readonly accountStatus: 'active' | 'suspended';
  readonly isDisabled: boolean;
  readonly addressRanges: readonly AddressRange[] | undefined;
  /** For how many days what is asked and answered is kept; undefined where it is not recorded. */
  readonly contentDays?: number | undefined;
}

/** An account with more keys than anybody can tell apart is a mistake of some script. */
export const KEYS_MAX = 1000;
/** Secrets of one key that are valid at once: each is another place that must be searched when one leaks. */
export const SECRETS_MAX = 10;

/** A request waits no longer for its key than for its hold. */
const LOOK_UP_MS = 5000;

/** How long a secret for a trial lives, and how many of them at once. */
export const TRIAL_MS = 60_000;
const TRIALS_MAX = 5;

/** The API keys: the name and limits of each, and the hashes of its secrets. Every change leaves an entry in the audit. */
export class Keys {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  /** Makes a key. Whether the account may have another one is for the caller to ask: see `createWithinLimit`. */
  async create(accountId: string, key: NewKey, actor: string = COMMAND_LINE): Promise<FreshKey> {
    const id = makeId('key');
    const fresh = { id, ...makeFresh() };
    const nowMs = Date.now();
    await within(this.#database, async (transaction) => {
      await transaction
        .insertInto('api_keys')
        .values({ ...toColumns(key), name: key.name, id, account_id: accountId, created_at: nowMs, updated_at: nowMs })
        .execute();
      await transaction.insertInto('key_secrets').values(secretRow(fresh)).execute();
      const rules = { atLimit: key.atLimit ?? 'stop', limitZone: key.limitZone ?? 'UTC' };
      await writeBudgets(transaction, { id, accountId, ...rules }, key.budgets ?? {});
      const changes = differences({}, { ...auditedSettings(key), ...auditedBudgets(key.budgets ?? {}), secret: shownSecret(fresh) });
      await recordAudit(transaction, { actor, action: 'key.create', subject: id, changes });
    });
    return fresh;
  }

  /** Makes a key, unless the account has as many as it may: then undefined. */
  async createWithinLimit(accountId: string, key: NewKey, actor: string): Promise<FreshKey | undefined> {
    return within(this.#database, async (transaction) => {
      await lockKeys(transaction);
      const { keys } = await transaction
        .selectFrom('api_keys')
        .select(({ fn }) => fn.countAll<bigint>().as('keys'))
        .where('account_id', '=', accountId)
        .where('deleted_at', 'is', null)
        .executeTakeFirstOrThrow();
      return keys >= KEYS_MAX ? undefined : new Keys(transaction).create(accountId, key, actor);
    });
  }

  /** Changes what a key may do; false when there is no such key. What a budget has counted stays counted. */
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
      const { id, account_id: accountId, at_limit: atLimit, limit_zone: limitZone } = after;
      await writeBudgets(transaction, { id, accountId, atLimit, limitZone }, change.budgets ?? {});
      const changes = differences(before, await describe(transaction, after));
      if (changes.length > 0) await recordAudit(transaction, { ...auditOf(request, 'key.update'), changes });
      return true;
    });
  }

  /** Sets what a key may spend in a period, or lifts that; false when there is no such key. */
  async setBudget(id: string, period: BudgetPeriod, amount: Nanos | undefined): Promise<boolean> {
    return this.update({ id, accountId: ANY_ACCOUNT, actor: COMMAND_LINE }, { budgets: { [period]: amount ?? null } });
  }

  /** Gives a key a new secret; its old ones live on for the overlap. */
  async rotate(request: KeyRequest, overlapMs: number): Promise<FreshKey | 'no_such_key' | 'too_many_secrets'> {
    const fresh = { id: request.id, ...makeFresh() };
    const nowMs = Date.now();
    const result = await this.#change(request, async (transaction) => {
      if (overlapMs > 0 && (await countSecrets(transaction, { keyId: request.id, isTrial: false, nowMs })) >= SECRETS_MAX)
        return 'too_many_secrets';
      // An overlap that ends sooner stays as it is: rotating twice must not prolong the first secret.
      const ended = await endSecrets(transaction, request.id, { isAfterMs: nowMs + overlapMs, endsAtMs: nowMs + overlapMs });
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

  /** A secret for one call from the dashboard, to see what the rules of the key make of it. It ends by itself, soon. */
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

  /** Ends the overlap of rotations now: only the newest secret stays. False when there is no such key. */
  async endOverlap(request: KeyRequest): Promise<boolean> {
    return this.#change(request, async (transaction) => {
      const nowMs = Date.now();
      const ended = await endSecrets(transaction, request.id, { isAfterMs: nowMs, endsAtMs: nowMs, isOverlap: true });
      if (ended.length === 0) return true;
      const changes = [{ field: 'secret', before: ended, after: null }];
      await recordAudit(transaction, { ...auditOf(request, 'key.end_overlap'), changes });
      return true;
    });
  }

  /** Ends a key and all its secrets at once; false when there is no such key. */
  async delete(request: KeyRequest): Promise<boolean> {
    return this.#change(request, async (transaction, row) => {
      await transaction.updateTable('api_keys').set({ deleted_at: Date.now() }).where('id', '=', request.id).execute();
      const changes = [{ field: 'name', before: row.name, after: null }];
      await recordAudit(transaction, { ...auditOf(request, 'key.delete'), changes });
      return true;
    });
  }

  /** The living keys of an account, oldest first. */
  list(accountId: string): Promise<ListedKey[]> {
    return readKeys(this.#database, accountId);
  }

  /** One living key of an account. */
  async find(accountId: string, id: string): Promise<ListedKey | undefined> {
    const [key] = await readKeys(this.#database, accountId, { id });
    return key;
  }

  /** Who holds the secret with this hash: undefined when nobody does any more. */
  async findHolder(hash: string): Promise<KeyHolder | undefined> {
    return inTime('The database', this.#findHolder(hash), LOOK_UP_MS);
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
    const settings = await this.#withinPlan(row.account_id, readSettings(row));
    return {
      keyId: row.id,
      accountId: row.account_id,
      accountStatus: row.status,
      isDisabled: row.disabled_at !== null,
      // One that cannot be read lets nobody in: the list only ever gets shorter by it.
      addressRanges: settings.addresses?.map((text) => parseAddressRange(text)).filter((range) => range !== undefined),
      contentDays: readOptional(row.content_days),
      ...settings,
      expiresAtMs: earliest(settings.expiresAtMs, readOptional(row.secret_expires_at)),
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

  /**
   * The write decides whether there is such a key and locks it, in one. It comes first: on the embedded database, a
   * transaction that has read is refused a later write when another one wrote.
   */
  #change<Result>(
    { id, accountId }: KeyRequest,
    work: (transaction: Transaction<Tables>, row: KeyRow) => Promise<Result>,
  ): Promise<Result | false> {
    return this.#database.transaction().execute(async (transaction) => {
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
  /** Secrets that end before this stay as they are. */
  readonly isAfterMs: number;
  readonly endsAtMs: number;
  /** Only those that a rotation has given an end. */
  readonly isOverlap?: boolean;
}

async function endSecrets(transaction: Transaction<Tables>, keyId: string, ending: Ending): Promise<string[]> {
  const rows = await transaction
    .updateTable('key_secrets')
    .set({ expires_at: ending.endsAtMs })
    .where('key_id', '=', keyId)
    .where((where) => {
      const isLater = where('expires_at', '>', BigInt(ending.isAfterMs));
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

/** A key as the audit tells it. */
async function describe(transaction: Transaction<Tables>, row: KeyRow): Promise<Record<string, AuditValue>> {
  const budgets = (await readBudgets(transaction, [row.id])).get(row.id) ?? [];
  const amounts = Object.fromEntries(budgets.map(({ period, amount }) => [period, amount]));
  return { ...auditedSettings(readSettings(row)), ...auditedBudgets(amounts), isDisabled: row.disabled_at !== null };
}

function auditedSettings(settings: SettingsChange): Record<string, AuditValue> {
  const { name, models, deniedModels, addresses, tags, requestsPerMinute, tokensPerMinute, concurrent, expiresAtMs } = settings;
  const { atLimit, limitZone } = settings;
  return { name, models, deniedModels, addresses, tags, requestsPerMinute, tokensPerMinute, concurrent, expiresAtMs, atLimit, limitZone };
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

function earliest(first: number | undefined, second: number | undefined): number | undefined {
  return first === undefined || (second !== undefined && second < first) ? second : first;
}
