import type { Selectable, Updateable } from 'kysely';
import { z } from 'zod';
import { readOptional } from '../database/columns.ts';
import type { Tables } from '../database/tables.ts';
import { parseAddressRange } from '../http/address-range.ts';
import { canonicalZone } from '../zone-clock.ts';
import { visibleName } from './line-of-text.ts';

/** Settings of a key. An absent limit means the key has none of its own. */
export interface KeySettings {
  readonly name: string;
  readonly models?: readonly string[] | undefined;
  /** Models that are refused even if `models` allows them. */
  readonly deniedModels?: readonly string[] | undefined;
  /** Address blocks that the key may be used from. */
  readonly addresses?: readonly string[] | undefined;
  /** Words, or `name=value`, for finding and grouping keys. */
  readonly tags?: readonly string[] | undefined;
  readonly requestsPerMinute?: number | undefined;
  readonly tokensPerMinute?: number | undefined;
  readonly concurrent?: number | undefined;
  readonly expiresAtMs?: number | undefined;
  /** What happens near the end of a budget; `stop` by default. */
  readonly atLimit?: AtLimit | undefined;
  /** Time zone of the days, weeks and months of budgets; `UTC` by default. */
  readonly limitZone?: string | undefined;
}

/** What a key does at its budget: stop when it is used up, or slow down before and spread its last fifth evenly. */
export const AT_LIMIT = ['stop', 'slow_down'] as const;
/** One of `AT_LIMIT`. */
export type AtLimit = (typeof AT_LIMIT)[number];

/** A change of settings. Null removes a setting; an absent one stays as it is. */
export type SettingsChange = { readonly [Field in keyof KeySettings]?: KeySettings[Field] | (Field extends 'name' ? undefined : null) };

const NAME_CHARACTERS_MAX = 100;
const MODELS_MAX = 500;
const MODEL_CHARACTERS_MAX = 200;
const ADDRESSES_MAX = 100;
const TAGS_MAX = 20;
const ZONE_CHARACTERS_MAX = 64;
const TAG = /^[\p{L}\p{N}][\p{L}\p{N} _.:/-]{0,63}(?:=[\p{L}\p{N} _.:/@-]{0,64})?$/u;

const name = visibleName('give the key a name').max(NAME_CHARACTERS_MAX, `has more than ${NAME_CHARACTERS_MAX} characters`);
const models = z
  .array(z.string().min(1).max(MODEL_CHARACTERS_MAX))
  .max(MODELS_MAX, `names more than ${MODELS_MAX} models`)
  .transform(unique);
const address = z.string().transform((text, context) => {
  const range = parseAddressRange(text);
  if (range !== undefined) return range.text;
  context.addIssue({ code: 'custom', message: 'is neither an address nor a block such as 203.0.113.0/24 or 2001:db8::/32' });
  return z.NEVER;
});
const tag = z
  .string()
  .trim()
  .regex(TAG, 'must be a word or name=value of letters, digits, spaces and _.:/-, at most 64 characters on each side');
/** A limit or another number of things. */
export const count = z
  .number('must be a whole number')
  .int('must be a whole number')
  .min(1, 'must be at least 1')
  .max(Number.MAX_SAFE_INTEGER, 'is too large');
const moment = z
  .number()
  .int()
  .max(8.64e15, 'is too far in the future')
  .refine((ms) => ms > Date.now(), 'is in the past');
/** A time zone, under the name by which it is stored. */
export const storedZone = z
  .string()
  .max(ZONE_CHARACTERS_MAX)
  .transform((text, context) => {
    const zone = canonicalZone(text);
    if (zone !== undefined) return zone;
    context.addIssue({ code: 'custom', message: 'is not the name of a time zone such as Europe/Berlin' });
    return z.NEVER;
  });

/** Validates the settings that people enter, and normalizes lists. An empty list of denied models, addresses or tags counts as none. */
export const settingsShape = {
  name,
  models: models.nullish(),
  deniedModels: models.nullish().transform(emptyToNull),
  addresses: z
    .array(address)
    .max(ADDRESSES_MAX, `has more than ${ADDRESSES_MAX} entries`)
    .transform(unique)
    .nullish()
    .transform(emptyToNull),
  tags: z.array(tag).max(TAGS_MAX, `has more than ${TAGS_MAX} entries`).transform(unique).nullish().transform(emptyToNull),
  requestsPerMinute: count.nullish(),
  tokensPerMinute: count.nullish(),
  concurrent: count.nullish(),
  expiresAtMs: moment.nullish(),
  atLimit: z.enum(AT_LIMIT, `must be one of ${AT_LIMIT.join(', ')}`).nullish(),
  limitZone: storedZone.nullish(),
};

/** Reads the settings from a database row. */
export function readSettings(row: Selectable<Tables['api_keys']>): KeySettings {
  return {
    name: row.name,
    models: readList(row.models),
    deniedModels: readList(row.denied_models),
    addresses: readList(row.addresses),
    tags: readList(row.tags),
    requestsPerMinute: readOptional(row.requests_per_minute),
    tokensPerMinute: readOptional(row.tokens_per_minute),
    concurrent: readOptional(row.concurrent),
    expiresAtMs: readOptional(row.expires_at),
    atLimit: row.at_limit,
    limitZone: row.limit_zone,
  };
}

/** Converts a change to columns. Unchanged columns are undefined, which the query builder skips. */
export function toColumns(change: SettingsChange): Updateable<Tables['api_keys']> {
  return {
    name: change.name,
    models: writeList(change.models),
    denied_models: writeList(change.deniedModels),
    addresses: writeList(change.addresses),
    tags: writeList(change.tags),
    requests_per_minute: change.requestsPerMinute,
    tokens_per_minute: change.tokensPerMinute,
    concurrent: change.concurrent,
    expires_at: change.expiresAtMs,
    at_limit: change.atLimit === null ? 'stop' : change.atLimit,
    limit_zone: change.limitZone === null ? 'UTC' : change.limitZone,
  };
}

function readList(text: string | null): string[] | undefined {
  return text === null ? undefined : (JSON.parse(text) as string[]);
}

function writeList(list: readonly string[] | null | undefined): string | null | undefined {
  return list === null || list === undefined ? list : JSON.stringify(list);
}

function unique(list: readonly string[]): string[] {
  return [...new Set(list)];
}

function emptyToNull(list: readonly string[] | null | undefined): readonly string[] | null | undefined {
  return list?.length === 0 ? null : list;
}
