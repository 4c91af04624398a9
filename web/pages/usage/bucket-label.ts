import type { Bucket } from '../../../src/dashboard/contract.ts';
import { DAY_MS } from '../../time.ts';

const SHORT: Readonly<Record<Bucket, Intl.DateTimeFormatOptions>> = {
  minute: { hour: '2-digit', minute: '2-digit' },
  quarter: { hour: '2-digit', minute: '2-digit' },
  hour: { hour: '2-digit', minute: '2-digit' },
  day: { day: 'numeric', month: 'short' },
  week: { day: 'numeric', month: 'short' },
  month: { month: 'short', year: 'numeric' },
};
const DATE: Intl.DateTimeFormatOptions = { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' };
const LONG: Readonly<Record<Bucket, Intl.DateTimeFormatOptions>> = {
  minute: { ...DATE, hour: '2-digit', minute: '2-digit', timeZoneName: 'short' },
  quarter: { ...DATE, hour: '2-digit', minute: '2-digit', timeZoneName: 'short' },
  hour: { ...DATE, hour: '2-digit', minute: '2-digit', timeZoneName: 'short' },
  day: DATE,
  week: DATE,
  month: { month: 'long', year: 'numeric' },
};

/**
 * Returns formatters for the buckets of a chart: short labels for the axis, long ones for the readout. The long labels name the time zone
 * offset, which distinguishes the hour that repeats when daylight saving time ends.
 */
export function bucketLabels(
  bucket: Bucket,
  { zone, buckets }: { readonly zone: string; readonly buckets: readonly number[] },
): { short: (atMs: number) => string; long: (atMs: number) => string } {
  const formatter = (options: Intl.DateTimeFormatOptions): ((atMs: number) => string) => {
    const format = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone, hourCycle: 'h23' });
    return (atMs) => format.format(atMs);
  };
  // Over several days, the time of day alone would be ambiguous.
  const spansDays = SHORT[bucket].hour !== undefined && (buckets.at(-1) ?? 0) - (buckets[0] ?? 0) > DAY_MS;
  return { short: formatter(spansDays ? { ...SHORT.day, ...SHORT[bucket] } : SHORT[bucket]), long: formatter(LONG[bucket]) };
}
