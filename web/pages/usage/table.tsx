import { Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import type { Names } from '../../names.ts';
import { formatPercent } from '../../numbers.ts';
import { usage as t } from '../../strings/index.ts';
import { Count } from '../../ui/count.tsx';
import { Money } from '../../ui/money.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { changeOf, formatValue, isMean, seriesLabel, type Asked, type Report, type Sums } from './report.ts';
import { METRICS, type Metric, type UsageSearch } from './search.ts';

type Series = Report['series'][number];

interface UsageTableProps {
  readonly report: Report | undefined;
  readonly error: unknown;
  readonly onRetry: () => void;
  readonly asked: Asked;
  readonly search: UsageSearch;
  readonly names: Names;
  readonly onClearFilters: (() => void) | undefined;
}

/** What each series comes to in everything that is counted, and all of them together. */
export function UsageTable({ report, error, onRetry, asked, search, names, onClearFilters }: UsageTableProps): JSX.Element {
  const { group, metric, isCompared } = asked;
  const first: Column<Series> = {
    id: 'name',
    header: t.groups[group],
    cell: (row) => <SeriesName row={row} asked={asked} search={search} names={names} />,
    total: t.total,
  };
  const figures = METRICS.map((name): Column<Series> => {
    const isUnknown = group === 'status' && isMean(name);
    return {
      id: name,
      header: t.short[name],
      align: 'right',
      cell: ({ total }) => (isUnknown ? '–' : <Figure metric={name} sums={total} />),
      total: report === undefined ? undefined : <Figure metric={name} sums={report.total} />,
    };
  });
  const change: Column<Series> = {
    id: 'change',
    header: t.change,
    align: 'right',
    cell: ({ total, former }) => <Change part={changeOf(total[metric], former?.[metric] ?? null)} />,
    total: <Change part={changeOf(report?.total[metric] ?? null, report?.former?.total[metric] ?? null)} />,
  };
  return (
    <Table
      caption={t.chartLabel(t.title, t.groups[group].toLowerCase())}
      columns={isCompared ? [first, change, ...figures] : [first, ...figures]}
      rows={report?.series}
      rowId={({ name }) => name ?? ' other'}
      error={error}
      onRetry={onRetry}
      empty={t.empty}
      onClearFilters={onClearFilters}
      hasTotals
    />
  );
}

interface SeriesNameProps {
  readonly row: Series;
  readonly asked: Asked;
  readonly search: UsageSearch;
  readonly names: Names;
}

/** A name leads to its requests, with the same range and filters. */
function SeriesName({ row, asked: { group }, search, names }: SeriesNameProps): JSX.Element {
  const label = seriesLabel(row, group, names);
  if (row.name === null || row.name === '') return <span className="whitespace-nowrap text-muted">{label}</span>;
  const { range, from, to, model, key, provider } = search;
  const kept = { ...(range && { range }), ...(from && { from }), ...(to && { to }) };
  const filters = { ...(model && { model }), ...(key && { key }), ...(provider && { provider }) };
  const own = group === 'status' ? { status: row.name === 'error' ? ('error' as const) : ('ok' as const) } : { [group]: row.name };
  return (
    <Link to="/requests" search={{ ...kept, ...filters, ...own }} title={t.seeRequests} className="link whitespace-nowrap">
      {label}
    </Link>
  );
}

function Figure({ metric, sums }: { readonly metric: Metric; readonly sums: Sums }): JSX.Element {
  const value = sums[metric];
  if (metric === 'spend') return <Money usd={String(value)} />;
  if (isMean(metric) || value === null) return <span className="figures whitespace-nowrap">{formatValue(metric, value)}</span>;
  if (metric.endsWith('_tokens')) return <Count value={Number(value)} isCompact />;
  if (metric !== 'errors' || sums.errors === 0) return <Count value={Number(value)} />;
  return (
    <span className="whitespace-nowrap">
      <Count value={Number(value)} /> <span className="text-xs text-muted">{formatPercent(Number(value) / Number(sums.requests))}</span>
    </span>
  );
}

function Change({ part }: { readonly part: number | undefined }): JSX.Element {
  if (part === undefined) return <span className="text-muted">–</span>;
  return (
    <span className="figures whitespace-nowrap">
      {part > 0 ? '+' : part < 0 ? '−' : '±'}
      {formatPercent(Math.abs(part))}
    </span>
  );
}
