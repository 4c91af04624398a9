import type { z } from 'zod';
import { parseUsd, type Nanos } from '../ledger/money.ts';
import { sayPlainly } from '../plain-words.ts';

/** Readers of option values. Each returns the value that the command needs, or throws an error that says what is allowed. */

/** A day, optionally with a time and a zone. */
const MOMENT = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:\d\d)?)?$/u;

/** Reads a moment, past or future. Without a zone it is in UTC, whatever the zone of the machine. */
export function readMoment(text: string): number {
  const [, day, time = '00:00', zone = 'Z'] = MOMENT.exec(text) ?? [];
  const ms = day === undefined || !isCalendarDay(day) ? Number.NaN : Date.parse(`${day}T${time}${zone}`);
  if (Number.isNaN(ms)) throw new Error(`"${text}" is not a time such as 2027-01-31 or 2027-01-31T12:00:00Z.`);
  return ms;
}

/** Rejects days such as the 31st of February, which the runtime reads as the 3rd of March. */
function isCalendarDay(day: string): boolean {
  const ms = Date.parse(day);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day);
}

/** Reads a moment in the future. */
export function readFuture(text: string): number {
  const ms = readMoment(text);
  if (ms <= Date.now()) throw new Error(`"${text}" is in the past.`);
  return ms;
}

/** Reads a whole number above zero. */
export function readCount(text: string): number {
  const value = Number(text);
  if (value > Number.MAX_SAFE_INTEGER) throw new Error(`"${text}" is too large.`);
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`"${text}" is not a whole number above zero.`);
  return value;
}

/** Reads an amount of money, which may be negative. */
export function readUsd(text: string): Nanos {
  const amount = parseUsd(text);
  if (amount === undefined)
    throw new Error(`"${text}" is not an amount in USD such as 25 or 0.5 (below a billion, at most nine decimals).`);
  return amount;
}

/** Reads an amount of money other than zero. */
export function readChangeUsd(text: string): Nanos {
  const amount = readUsd(text);
  if (amount === 0n) throw new Error('An amount of 0 changes nothing.');
  return amount;
}

/** Reads a reason for the audit log. */
export function readReason(text: string): string {
  if (text.trim() === '') throw new Error('The reason must not be empty: it is recorded.');
  return text;
}

/** Reads an amount of money above zero. */
export function readPositiveUsd(text: string): Nanos {
  const amount = readUsd(text);
  if (amount <= 0n) throw new Error(`"${text}" is not an amount above zero.`);
  return amount;
}

/** Reads names separated by commas. */
export function readList(text: string): string[] {
  const items = text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
  if (items.length === 0) throw new Error('Name at least one, or leave the option out.');
  return items;
}

/** Runs the reader of an option; its error then names the option. */
export function readNamed<Value>(flag: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw new Error(`${flag}: ${(error as Error).message}`, { cause: error });
  }
}

/** Reads options with a schema that the dashboard's forms share. The error names the option at fault. */
export function readBySchema<Schema extends z.ZodType>(
  schema: Schema,
  values: { readonly [Field in keyof z.input<Schema>]: unknown },
  flags: Readonly<Record<string, string>>,
): z.output<Schema> {
  const result = schema.safeParse(values, { error: sayPlainly });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const flag = flags[String(issue?.path[0] ?? '')];
  throw new Error(`${flag === undefined ? '' : `${flag}: `}${issue?.message ?? 'The options are not valid.'}`);
}
