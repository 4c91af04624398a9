import { readAudit } from '../../accounts/audit.ts';
import type { ListedKey } from '../../accounts/key-list.ts';
import { hashSecret } from '../../accounts/key-secret.ts';
import type { SettingsChange } from '../../accounts/key-settings.ts';
import { Keys, TRIAL_MS, type FreshKey, type KeyRequest } from '../../accounts/keys.ts';
import { findUnknown, matchesAny } from '../../accounts/model-rules.ts';
import type { Model } from '../../catalog/catalog.ts';
import { formatPricePerToken, formatUsd } from '../../ledger/money.ts';
import { readDays, readSpend } from '../../usage/key-usage.ts';
import { ApiError, TooManyError } from '../api-error.ts';
import { askCatalogue, askLimits } from '../gate-answers.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Person } from '../person.ts';
import { describeBudget, describeKey } from './describe-key.ts';

const DAYS_SHOWN = 30;
const AUDIT_SHOWN = 100;
const RATES = ['requestsPerMinute', 'tokensPerMinute', 'concurrent'] as const;

/** Everything the pages about keys show and do. */
export class KeyDesk {
  readonly keys: Keys;
  readonly #dependencies: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
    this.keys = new Keys(dependencies.database.kysely);
  }

  /** Lists keys with their spending. Days and months follow the calendar of the zone. */
  async list(accountId: string, zone: string) {
    const [keys, spend] = await Promise.all([this.keys.list(accountId), readSpend(this.#dependencies.database, accountId, { zone })]);
    return keys.map((key) => describeKey(key, spend.get(key.id)));
  }

  async find(accountId: string, id: string): Promise<ListedKey> {
    const key = await this.keys.find(accountId, id);
    if (key === undefined) throw noSuchKey();
    return key;
  }

  async describe(accountId: string, id: string, zone: string) {
    const key = await this.find(accountId, id);
    return describeKey(key, (await readSpend(this.#dependencies.database, accountId, { zone, keyId: id })).get(id));
  }

  /** Returns everything about one key. */
  async show(accountId: string, id: string, zone: string) {
    const { database } = this.#dependencies;
    const key = await this.describe(accountId, id, zone);
    const days = await readDays(database, { accountId, id }, { zone, days: DAYS_SHOWN });
    const entries = await readAudit(database.kysely, id, AUDIT_SHOWN);
    return {
      key,
      days: days.map(({ cost, ...day }) => ({ ...day, costUsd: formatUsd(cost) })),
      audit: entries.map(({ id: entryId, actor, action, createdAtMs, changes }) => ({ id: entryId, actor, action, createdAtMs, changes })),
    };
  }

  /** Returns the live state of a key: status, budgets and rate-limit use. */
  async watch(accountId: string, id: string) {
    const key = await this.find(accountId, id);
    const { requestsPerMinute, tokensPerMinute, concurrent } = key;
    const use = await askLimits(this.#dependencies.ask, id, { requestsPerMinute, tokensPerMinute, concurrent });
    return { status: key.status, budgets: key.budgets.map(describeBudget), use };
  }

  /** Returns the models that a form can offer, and the default limits. */
  async options() {
    const { limits } = await askLimits(this.#dependencies.ask, '', {});
    const models = await askCatalogue(this.#dependencies.ask);
    return { models: models.map(describeOffer), limits };
  }

  /** Creates a secret that is valid for a minute, and picks the cheapest model that the key may call. */
  async makeTrial(request: KeyRequest) {
    const fresh = await this.keys.makeTrial(request);
    if (fresh === 'no_such_key') throw noSuchKey();
    if (fresh === 'too_many_secrets') throw new TooManyError('Too many test calls. Try again in a minute.', TRIAL_MS);
    const model = await this.#findCheapest(fresh.secret);
    if (model === undefined) throw new ApiError('conflict', 'This key is not allowed to call any model.');
    return { secret: fresh.secret, model };
  }

  /** Describes a new secret, with a model that its code examples can call. */
  async describeFresh({ id, secret }: FreshKey, name: string) {
    // The secret cannot be had again: it is shown even if no model can be found.
    const model = await this.#findCheapest(secret).catch(() => undefined);
    return { id, name, secret, model: model ?? null };
  }

  /** Returns the cheapest model that a secret may call, if there is one. */
  async #findCheapest(secret: string): Promise<string | undefined> {
    // Uses the holder's rules, which include those of the account's plan.
    const holder = await this.keys.findHolder(hashSecret(secret));
    const allowed = (await askCatalogue(this.#dependencies.ask)).filter(
      ({ id }) => (holder?.models === undefined || matchesAny(holder.models, id)) && !matchesAny(holder?.deniedModels ?? [], id),
    );
    return allowed.toSorted((first, second) => priceOf(first) - priceOf(second))[0]?.id;
  }

  /** Refuses unknown models. A misspelt model would silently create a key or a plan that cannot call anything. */
  async refuseUnknownModels(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const known = (await askCatalogue(this.#dependencies.ask)).map(({ id }) => id);
    const [unknown] = findUnknown(ids, known);
    if (unknown !== undefined) throw new ApiError('invalid', `Unknown model: ${unknown}.`, 'models');
  }

  /**
   * Refuses limits above those of the account's plan or, without one, the defaults: otherwise anybody could lift the operator's limits.
   * A limit that the operator has raised on a key may stay.
   */
  async refuseRaisedLimits({ accountId, isOperator }: Person, change: SettingsChange, key?: ListedKey): Promise<void> {
    const raised = RATES.filter((rate) => (change[rate] ?? 0) > (key?.[rate] ?? 0));
    if (isOperator || raised.length === 0) return;
    const { limits } = await askLimits(this.#dependencies.ask, '', {});
    const plan = await this.keys.planLimits(accountId);
    for (const rate of raised) {
      const max = plan?.[rate] ?? limits[rate];
      if ((change[rate] ?? 0) > max) throw new ApiError('invalid', `${rate}: can be at most ${max}; only the operator can set more`, rate);
    }
  }
}

/** Describes a model for forms, with prices in USD per token. */
function describeOffer({ id, name, provider, price }: Model) {
  return { id, name, provider, inputPrice: formatPricePerToken(price.input), outputPrice: formatPricePerToken(price.output) };
}

/** Returns a price for comparison only. */
function priceOf({ price }: Model): number {
  return Number(price.input) + Number(price.output);
}

/** Also used for other accounts' keys, so that nobody learns whether they exist. */
export function noSuchKey(): ApiError {
  return new ApiError('not_found', 'Key not found. It may have been deleted.');
}
