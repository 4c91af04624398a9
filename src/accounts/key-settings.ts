import type { Selectable, Updateable } from 'kysely';
import { z } from 'zod';
import type { Tables } from '../database/tables.ts';
import { parseAddressRange } from '../http/address-range.ts';
import { isZone } from '../zone-clock.ts';
import { visibleName } from './line-of-text.ts';

/** What the maker of a key may fix; absent means no limit of its own. */
export interface KeySettings {
  readonly name: string;
  readonly models?: readonly string[] | undefined;
  /** Never these, whatever the list of models says. */
  readonly deniedModels?: readonly string[] | undefined;
  /** Blocks of addresses that the key may be used from. */
  readonly addresses?: readonly string[] | undefined;
  /** Words, or `name=value`, to find and group keys by. */
  readonly tags?: readonly string[] | undefined;
  readonly requestsPerMinute?: number | undefined;
  readonly tokensPerMinute?: number | undefined;
  readonly concurrent?: number | undefined;
  readonly expiresAtMs?: number | undefined;
  /** What happens near the end of a budget; `stop`, unless told. */
  readonly atLimit?: AtLimit | undefined;
  /** By whose calendar budgets count days, weeks and months; `UTC`, unless told. */
  readonly limitZone?: string | undefined;
}

/** Stop when a budget is used up, or slow down before and let its last fifth out evenly. */
export const AT_LIMIT = ['stop', 'slow_down'] as const;
export type AtLimit = (typeof AT_LIMIT)[number];

/** What is to be different; null lifts a setting, and what is absent stays. */
export type SettingsChange = { readonly [Field in keyof KeySettings]?: KeySettings[Field] | (Field extends 'name' ? undefined : null) };

const NAME_CHARACTERS_MAX = 100;
const MODELS_MAX = 500;
const MODEL_CHARACTERS_MAX = 200;
const ADDRESSES_MAX = 100;
const TAGS_MAX = 20;
const ZONE_CHARACTERS_MAX = 64;
/** Offsets such as +02:00 are left out: one of the databases takes them for their opposite. */
const ZONE = /^[A-Za-z][A-Za-z0-9_+/-]*$/u;
/** PostgreSQL takes these names for abbreviations that know no summer time. They stand for the clocks of these places. */
const PLACES: ReadonlyMap<string, string> = new Map([
  ['CET', 'Europe/Brussels'],
  ['MET', 'Europe/Brussels'],
  ['EET', 'Europe/Athens'],
  ['WET', 'Europe/Lisbon'],
]);
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
const count = z
  .number('must be a whole number')
  .int('must be a whole number')
  .min(1, 'must be at least 1')
  .max(Number.MAX_SAFE_INTEGER, 'is too large');
const moment = z
  .number()
  .int()
  .max(8.64e15, 'is too far in the future')
  .refine((ms) => ms > Date.now(), 'is in the past');
const zone = z
  .string()
  .max(ZONE_CHARACTERS_MAX)
  .refine((text) => ZONE.test(text) && isZone(text), 'is not the name of a time zone such as Europe/Berlin')
  .transform((text) => PLACES.get(text.toUpperCase()) ?? text);

/** What people may write into the settings of a key; also brings lists into their usual form. An empty list of addresses or tags is none. */
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
  limitZone: zone.nullish(),
};

type SettingsColumn =
  | 'name'
  | 'models'
  | 'denied_models'
  | 'addresses'
  | 'tags'
  | 'requests_per_minute'
  | 'tokens_per_minute'
  | 'concurrent'
  | 'expires_at'
  | 'at_limit'
  | 'limit_zone';

/** The settings in a row of the database. */
export function readSettings(row: Pick<Selectable<Tables['api_keys']>, SettingsColumn>): KeySettings {
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

/** A change of settings as columns; a column that stays as it is is undefined, which the query builder leaves out. */
export function toColumns(change: SettingsChange): Pick<Updateable<Tables['api_keys']>, SettingsColumn> {
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

/** A number that may be absent. */
export function readOptional(value: bigint | null): number | undefined {
  return value === null ? undefined : Number(value);
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
