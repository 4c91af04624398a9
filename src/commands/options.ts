import type { z } from 'zod';
import { parseUsd, type Nanos } from '../ledger/money.ts';

/** How the values of options are read. Each gives what the command needs, or an error that says what is allowed. */

/** A day, and where it is given the time of day and the zone. */
const MOMENT = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:\d\d)?)?$/u;

/** A moment, past or future. Without a zone it is one of UTC, wherever the machine stands. */
export function readMoment(text: string): number {
  const [, day, time = '00:00', zone = 'Z'] = MOMENT.exec(text) ?? [];
  const ms = day === undefined || !isCalendarDay(day) ? Number.NaN : Date.parse(`${day}T${time}${zone}`);
  if (Number.isNaN(ms)) throw new Error(`"${text}" is not a time such as 2027-01-31 or 2027-01-31T12:00:00Z.`);
  return ms;
}

/** The runtime takes the 31st of February for the 3rd of March. */
function isCalendarDay(day: string): boolean {
  const ms = Date.parse(day);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day);
}

/** A moment that has not come yet. */
export function readFuture(text: string): number {
  const ms = readMoment(text);
  if (ms <= Date.now()) throw new Error(`"${text}" is in the past.`);
  return ms;
}

/** A whole number above zero. */
export function readCount(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`"${text}" is not a whole number above zero.`);
  return value;
}

/** An amount of money, which may be negative. */
export function readUsd(text: string): Nanos {
  const amount = parseUsd(text);
  if (amount === undefined) throw new Error(`"${text}" is not an amount in USD such as 25 or 0.5 (at most nine decimals).`);
  return amount;
}

/** An amount of money that changes something. */
export function readChangeUsd(text: string): Nanos {
  const amount = readUsd(text);
  if (amount === 0n) throw new Error('An amount of 0 changes nothing.');
  return amount;
}

/** Why something is done, for those who read the record. */
export function readReason(text: string): string {
  if (text.trim() === '') throw new Error('Say why: the reason is kept with it.');
  return text;
}

/** An amount of money above zero. */
export function readPositiveUsd(text: string): Nanos {
  const amount = readUsd(text);
  if (amount <= 0n) throw new Error(`"${text}" is not an amount above zero.`);
  return amount;
}

/** Names that are separated by commas. */
export function readList(text: string): string[] {
  const items = text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
  if (items.length === 0) throw new Error('Name at least one, or leave the option out.');
  return items;
}

/** What a schema that forms share makes of options; a refusal names the option that is to blame. */
export function readBySchema<Schema extends z.ZodType>(
  schema: Schema,
  values: { readonly [Field in keyof z.input<Schema>]: unknown },
  flags: Readonly<Record<string, string>>,
): z.output<Schema> {
  const result = schema.safeParse(values);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const flag = flags[String(issue?.path[0] ?? '')];
  throw new Error(`${flag === undefined ? '' : `${flag}: `}${issue?.message ?? 'The options are not valid.'}`);
}
