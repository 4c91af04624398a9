import { readAudit } from '../accounts/audit.ts';
import type { ListedKey } from '../accounts/key-list.ts';
import { hashSecret } from '../accounts/key-secret.ts';
import { Keys, TRIAL_MS, type KeyRequest } from '../accounts/keys.ts';
import { findUnknown, lists } from '../accounts/model-rules.ts';
import type { KeyLimits, KeyUse } from '../limits/limits.ts';
import { formatUsd } from '../ledger/money.ts';
import { readDays, readSpend, type DayOfUse } from '../usage/key-usage.ts';
import { ApiError, TooManyError } from './api-error.ts';
import { askLimits, askModels, type OfferedModel } from './gate-answers.ts';
import { auditJson, budgetJson, keyJson, type AuditJson, type BudgetJson, type KeyJson } from './key-json.ts';
import type { Parts } from './parts.ts';

const DAYS_SHOWN = 30;
const AUDIT_SHOWN = 100;

/** Everything about one key. */
interface KeyPage {
  readonly key: KeyJson;
  readonly days: readonly (Omit<DayOfUse, 'cost'> & { readonly costUsd: string })[];
  readonly audit: readonly AuditJson[];
}

/** What changes from second to second. */
interface KeyLive {
  readonly status: KeyJson['status'];
  readonly budgets: readonly BudgetJson[];
  readonly use: KeyUse;
}

/** What a test call is made with. */
interface TrialJson {
  readonly secret: string;
  readonly model: string;
}

/** Puts together what the pages show of keys. */
export class KeyDesk {
  readonly keys: Keys;
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.keys = new Keys(parts.database.kysely);
  }

  /** Days and months of what was spent are those of the zone. */
  async list(accountId: string, zone: string): Promise<KeyJson[]> {
    const [keys, spend] = await Promise.all([this.keys.list(accountId), readSpend(this.#parts.database, accountId, { zone })]);
    return keys.map((key) => keyJson(key, spend.get(key.id)));
  }

  async find(accountId: string, id: string): Promise<ListedKey> {
    const key = await this.keys.find(accountId, id);
    if (key === undefined) throw noSuchKey();
    return key;
  }

  async describe(accountId: string, id: string, zone: string): Promise<KeyJson> {
    const key = await this.find(accountId, id);
    return keyJson(key, (await readSpend(this.#parts.database, accountId, { zone, keyId: id })).get(id));
  }

  async show(accountId: string, id: string, zone: string): Promise<KeyPage> {
    const { database } = this.#parts;
    const key = await this.describe(accountId, id, zone);
    const days = await readDays(database, { accountId, id }, { zone, days: DAYS_SHOWN });
    return {
      key,
      days: days.map(({ cost, ...day }) => ({ ...day, costUsd: formatUsd(cost) })),
      audit: (await readAudit(database.kysely, id, AUDIT_SHOWN)).map(auditJson),
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

  /** A secret that lives for a minute, and the cheapest model that the key may call. */
  async makeTrial(request: KeyRequest): Promise<TrialJson> {
    const fresh = await this.keys.makeTrial(request);
    if (fresh === 'no_such_key') throw noSuchKey();
    if (fresh === 'too_many_secrets') throw new TooManyError('That were many test calls. Try again in a minute.', TRIAL_MS);
    // Asked of the holder, who is also bound by the plan of the account.
    const holder = await this.keys.findHolder(hashSecret(fresh.secret));
    const allowed = (await askModels(this.#parts.ask)).filter(
      ({ id }) => (holder?.models === undefined || lists(holder.models, id)) && !lists(holder?.deniedModels ?? [], id),
    );
    const [cheapest] = allowed.toSorted((first, second) => priceOf(first) - priceOf(second));
    if (cheapest === undefined) throw new ApiError('conflict', 'There is no model that this key may call.');
    return { secret: fresh.secret, model: cheapest.id };
  }

  /** A misspelt model would make a key that can call nothing, and nobody would know why. */
  async refuseUnknownModels(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const known = (await askModels(this.#parts.ask)).map(({ id }) => id);
    const [unknown] = findUnknown(ids, known);
    if (unknown !== undefined) throw new ApiError('invalid', `There is no model ${unknown}.`, 'models');
  }
}

/** To be compared, not shown. */
function priceOf({ inputPrice, outputPrice }: OfferedModel): number {
  return Number(inputPrice) + Number(outputPrice);
}

/** Also for keys of others: nobody learns that they exist. */
export function noSuchKey(): ApiError {
  return new ApiError('not_found', 'There is no such key. It may have been deleted.');
}
