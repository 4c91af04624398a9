import { useEffect, useState } from 'react';
import type { JSX } from 'react';
import { formatDate, formatDateTime, formatRelative } from '../time.ts';
import { useZone } from '../zone.ts';
import { cx } from './cx.ts';

const REFRESH_MS = 30_000;

interface DateTimeProps {
  readonly atMs: number;
  readonly precision?: 'day' | 'minute' | 'second';
  /** May wrap, for columns that are narrow on phones. */
  readonly mayBreak?: boolean;
  /** Names the time zone too, where people quote the time to others. */
  readonly hasZone?: boolean;
}

/** Date and time, or only the date, in the chosen time zone. The tooltip has the zone and the UTC time. */
export function DateTime({ atMs, precision, mayBreak = false, hasZone = false }: DateTimeProps): JSX.Element {
  const zone = useZone();
  return (
    <time dateTime={new Date(atMs).toISOString()} title={titleOf(atMs, zone)} className={cx('figures', !mayBreak && 'whitespace-nowrap')}>
      {precision === 'day' ? formatDate(atMs, zone) : formatDateTime(atMs, zone, precision)}
      {hasZone && <span className="font-sans text-muted"> {zone}</span>}
    </time>
  );
}

/** Relative time, kept up to date. The tooltip has the exact time. */
export function RelativeTime({ atMs }: { readonly atMs: number }): JSX.Element {
  const zone = useZone();
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <time dateTime={new Date(atMs).toISOString()} title={titleOf(atMs, zone)} className="whitespace-nowrap">
      {formatRelative(atMs, nowMs)}
    </time>
  );
}

function titleOf(atMs: number, zone: string): string {
  return `${formatDateTime(atMs, zone, 'second')} ${zone} (${new Date(atMs).toISOString()})`;
}
