import { readAudit } from '../accounts/audit.ts';
import type { ListedKey } from '../accounts/key-list.ts';
import { Keys } from '../accounts/keys.ts';
import type { KeyLimits, KeyUse } from '../limits/limits.ts';
import { formatUsd } from '../ledger/money.ts';
import { countRequests, readDays, readSpend, type DayOfUse } from '../usage/key-usage.ts';
import { ApiError } from './api-error.ts';
import { askLimits, askModels, type OfferedModel } from './gate-answers.ts';
import { auditJson, budgetJson, keyJson, type AuditJson, type BudgetJson, type KeyJson } from './key-json.ts';
import type { Parts } from './parts.ts';

const DAY_MS = 86_400_000;
const DAYS_SHOWN = 30;
const AUDIT_SHOWN = 100;

/** Everything about one key. */
interface KeyPage {
  readonly key: KeyJson;
  readonly days: readonly (Omit<DayOfUse, 'cost'> & { readonly costUsd: string })[];
  readonly requestsLastDay: number;
  readonly audit: readonly AuditJson[];
}

/** What changes from second to second. */
interface KeyLive {
  readonly status: KeyJson['status'];
  readonly budgets: readonly BudgetJson[];
  readonly use: KeyUse;
}

/** Puts together what the pages show of keys. */
export class KeyDesk {
  readonly keys: Keys;
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.keys = new Keys(parts.database.kysely);
  }

  async list(accountId: string): Promise<KeyJson[]> {
    const [keys, spend] = await Promise.all([this.keys.list(accountId), readSpend(this.#parts.database.kysely, accountId)]);
    return keys.map((key) => keyJson(key, spend.get(key.id)));
  }

  async find(accountId: string, id: string): Promise<ListedKey> {
    const key = await this.keys.find(accountId, id);
    if (key === undefined) throw noSuchKey();
    return key;
  }

  async describe(accountId: string, id: string): Promise<KeyJson> {
    const key = await this.find(accountId, id);
    return keyJson(key, (await readSpend(this.#parts.database.kysely, accountId, id)).get(id));
  }

  async show(accountId: string, id: string): Promise<KeyPage> {
    const { kysely } = this.#parts.database;
    const key = await this.describe(accountId, id);
    const days = await readDays(kysely, { accountId, id }, DAYS_SHOWN);
    return {
      key,
      days: days.map(({ cost, ...day }) => ({ ...day, costUsd: formatUsd(cost) })),
      requestsLastDay: await countRequests(kysely, { accountId, id }, Date.now() - DAY_MS),
      audit: (await readAudit(kysely, id, AUDIT_SHOWN)).map(auditJson),
    };
  }

  async watch(accountId: string, id: string): Promise<KeyLive> {
    const key = await this.find(accountId, id);
    const { requestsPerMinute, tokensPerMinute, concurrent } = key;
    const use = await askLimits(this.#parts.ask, id, { requestsPerMinute, tokensPerMinute, concurrent });
    return { status: key.status, budgets: key.budgets.map(budgetJson), use };
  }

  /** What a form may offer, and the limits of whoever fixes none. */
  async options(): Promise<{ readonly models: readonly OfferedModel[]; readonly limits: KeyLimits }> {
    const { limits } = await askLimits(this.#parts.ask, '', {});
    return { models: await askModels(this.#parts.ask), limits };
  }

  /** A misspelt model would make a key that can call nothing, and nobody would know why. */
  async refuseUnknownModels(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const known = new Set((await askModels(this.#parts.ask)).map(({ id }) => id));
    const unknown = ids.find((id) => !known.has(id));
    if (unknown !== undefined) throw new ApiError('invalid', `There is no model ${unknown}.`, 'models');
  }
}

/** Also for keys of others: nobody learns that they exist. */
export function noSuchKey(): ApiError {
  return new ApiError('not_found', 'There is no such key. It may have been deleted.');
}
