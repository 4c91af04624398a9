import { z } from 'zod';
import { AT_LIMIT, settingsShape, type AtLimit, type SettingsChange } from '../accounts/key-settings.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../durations.ts';
import { BUDGET_PERIODS, type BudgetPeriod } from '../ledger/ledger.ts';
import type { Nanos } from '../ledger/money.ts';
import { sayPlainly } from '../plain-words.ts';
import { readCount, readFuture, readList, readNamed, readUsd } from './options.ts';

/** The settings of a key as typed on the command line. */
export interface SettingsOptions {
  readonly name?: string;
  readonly models?: string;
  readonly denyModels?: string;
  readonly addresses?: string;
  readonly tag?: readonly string[];
  readonly rpm?: string;
  readonly tpm?: string;
  readonly concurrent?: string;
  readonly expires?: string;
  readonly atLimit?: string;
  readonly limitZone?: string;
}

/** The word that removes a setting. */
const NONE = 'none';

/** Option names of settings, for error messages. */
const OPTION_NAMES: Readonly<Record<string, string>> = {
  deniedModels: 'deny-models',
  tags: 'tag',
  requestsPerMinute: 'rpm',
  tokensPerMinute: 'tpm',
  expiresAtMs: 'expires',
  limitZone: 'limit-zone',
};

/** Reads the given settings; null removes a setting. */
export function readSettingsOptions(options: SettingsOptions): SettingsChange {
  const given = {
    name: options.name,
    models: unlessNone('--models', options.models, readList),
    deniedModels: unlessNone('--deny-models', options.denyModels, readList),
    addresses: unlessNone('--addresses', options.addresses, readList),
    tags: options.tag?.length === 1 && options.tag[0] === NONE ? null : options.tag,
    requestsPerMinute: unlessNone('--rpm', options.rpm, readCount),
    tokensPerMinute: unlessNone('--tpm', options.tpm, readCount),
    concurrent: unlessNone('--concurrent', options.concurrent, readCount),
    expiresAtMs: unlessNone('--expires', options.expires, readFuture),
    atLimit: unlessNone('--at-limit', options.atLimit, readAtLimit),
    limitZone: unlessNone('--limit-zone', options.limitZone, (text) => text),
  };
  const values = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const result = settingsSchema.safeParse(values, { error: sayPlainly });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = String(issue?.path[0] ?? '');
  throw new Error(`--${OPTION_NAMES[field] ?? field}: ${quoteValue(values, issue?.path ?? [])}${issue?.message ?? 'is not valid'}.`);
}

/** Quotes the text at fault, which may be one of many, such as an address. Names are not quoted: they may be empty or very long. */
function quoteValue(values: Readonly<Record<string, unknown>>, [field = '', index]: readonly PropertyKey[]): string {
  const value = values[String(field)];
  const text = Array.isArray(value) && typeof index === 'number' ? (value as unknown[])[index] : value;
  return field !== 'name' && typeof text === 'string' ? `"${text}" ` : '';
}

const settingsSchema = z.strictObject(settingsShape).partial();

function readAtLimit(text: string): AtLimit {
  const word = AT_LIMIT.find((name) => name === text.replace('-', '_'));
  if (word === undefined) throw new Error('must be stop or slow-down.');
  return word;
}

/** Reads a budget period. */
export function readPeriod(text: string): BudgetPeriod {
  const period = BUDGET_PERIODS.find((name) => name === text);
  if (period === undefined) throw new Error(`"${text}" is not a period; use ${BUDGET_PERIODS.join(', ')}.`);
  return period;
}

/** Reads a budget in USD. */
export function readBudget(text: string): Nanos {
  const amount = readUsd(text);
  if (amount < 0n) throw new Error('A budget must be zero or more.');
  return amount;
}

/** Reads a budget or `none`. The word is kept as it is, because commander turns null and undefined into an empty string. */
export function readBudgetOrNone(text: string): Nanos | typeof NONE {
  return text === NONE ? NONE : readBudget(text);
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };

/** Reads a duration in milliseconds. Only 0 needs no unit: 24 could be seconds or hours. */
export function readDuration(text: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text === '0' ? '0s' : text) ?? [];
  if (count === undefined) throw new Error(`"${text}" is not a duration such as 0, 30m, 24h or 7d.`);
  return Number(count) * (UNIT_MS[unit] ?? 0);
}

function unlessNone<Value>(flag: string, text: string | undefined, read: (text: string) => Value): Value | null | undefined {
  if (text === undefined) return undefined;
  return text === NONE ? null : readNamed(flag, () => read(text));
}
