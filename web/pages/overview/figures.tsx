import type { JSX } from 'react';
import { formatUsd, signOf } from '../../money.ts';
import { formatCount, formatDays, formatMs, formatPercent } from '../../numbers.ts';
import { overview as t } from '../../strings/index.ts';
import { Money } from '../../ui/money.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Stat } from '../../ui/stat.tsx';
import { changeOf } from '../usage/report.ts';
import type { Overview, Period } from './queries.ts';

const LABELS = [t.balance, t.runway, t.today, t.week, t.month, t.requests, t.errors, t.firstToken] as const;

/** Key figures of the account. */
export function Figures({ overview }: { readonly overview: Overview | undefined }): JSX.Element {
  return (
    <div className="stats gap-6 sm:[--stat-width:20%]">
      {overview === undefined ? (
        LABELS.map((label) => <Stat key={label} label={label} value={undefined} hint={<Skeleton className="my-px w-28" />} />)
      ) : (
        <LoadedFigures overview={overview} />
      )}
    </div>
  );
}

function LoadedFigures({ overview: { balance, periods, firstToken } }: { readonly overview: Overview }): JSX.Element {
  return (
    <>
      <Stat
        label={t.balance}
        value={<Money usd={balance.availableUsd} />}
        hint={signOf(balance.heldUsd) === 0 ? t.notHeld : t.held(formatUsd(balance.heldUsd))}
      />
      <Stat
        label={t.runway}
        value={balance.runwayDays === null ? null : formatRunway(balance.runwayDays)}
        hint={balance.runwayDays === null ? t.runwayNone : t.runwayHint}
      />
      <SpendStat label={t.today} period={periods.today} hint={t.againstYesterday} />
      <SpendStat label={t.week} period={periods.week} hint={t.againstWeek} />
      <SpendStat label={t.month} period={periods.month} hint={t.againstMonth} />
      <RequestsStat period={periods.week} />
      <Stat label={t.errors} value={errorRate(periods.week)} hint={t.errorsHint(formatCount(Number(periods.week.errors)))} />
      <Stat
        label={t.firstToken}
        value={firstToken.p50Ms === undefined ? null : formatMs(firstToken.p50Ms)}
        hint={firstToken.p95Ms !== undefined && t.firstTokenHint(formatCount(firstToken.count), formatMs(firstToken.p95Ms))}
      />
    </>
  );
}

interface SpendStatProps {
  readonly label: string;
  readonly period: Period;
  readonly hint: string;
}

function SpendStat({ label, period, hint }: SpendStatProps): JSX.Element {
  const change = changeOf(period.spend, period.former.spend);
  return <Stat label={label} value={<Money usd={String(period.spend)} />} change={change} hint={change !== undefined && hint} />;
}

function RequestsStat({ period }: { readonly period: Period }): JSX.Element {
  const change = changeOf(period.requests, period.former.requests);
  return (
    <Stat label={t.requests} value={formatCount(Number(period.requests))} change={change} hint={change !== undefined && t.againstWeek} />
  );
}

function errorRate({ requests, errors }: Period): string | null {
  return Number(requests) === 0 ? null : formatPercent(Number(errors) / Number(requests));
}

const DAYS_MAX = 3650;

/** Beyond this many days an exact figure would mean nothing. */
function formatRunway(days: number): string {
  return days > DAYS_MAX ? t.runwayLong : t.runwayDays(formatDays(days));
}
