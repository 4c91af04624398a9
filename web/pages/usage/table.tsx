import { Link } from '@tanstack/react-router';
import { useRef } from 'react';
import type { JSX } from 'react';
import { isMean, METRICS } from '../../../src/dashboard/contract.ts';
import type { Group, Metric } from '../../../src/dashboard/contract.ts';
import type { Names } from '../../names.ts';
import { formatChange, formatPercent } from '../../numbers.ts';
import { usage as t } from '../../strings/index.ts';
import { Breakable } from '../../ui/breakable.tsx';
import type { ColumnMinWidth } from '../../ui/column-class.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Count } from '../../ui/count.tsx';
import { LinkButton } from '../../ui/link-button.tsx';
import { Money } from '../../ui/money.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { requestsSearch } from './controls.tsx';
import { changeOf, formatValue, groupsLabel, nameLabel, type ReportSpec, type Report, type Series, type Sums } from './report.ts';
import type { UsageSearch } from './search.ts';

/** Figures that are hidden in narrow tables. */
const MIN_WIDTHS: Readonly<Partial<Record<Metric, ColumnMinWidth>>> = {
  input_tokens: 'medium',
  latency_ms: 'medium',
  cached_input_tokens: 'large',
  first_token_ms: 'large',
  cache_write_tokens: 'full',
  reasoning_tokens: 'full',
};

interface UsageTableProps {
  readonly report: Report | undefined;
  readonly error: unknown;
  readonly onRetry: () => void;
  readonly spec: ReportSpec;
  readonly search: UsageSearch;
  readonly names: Names;
  readonly onClearFilters: (() => void) | undefined;
}

/** Totals of all metrics for each series, and of all series together. */
export function UsageTable({ report, error, onRetry, spec, search, names, onClearFilters }: UsageTableProps): JSX.Element {
  const { metric, isCompared } = spec;
  const named = spec.groups.flatMap((group, index) => (group === undefined ? [] : [nameColumn({ group, index, search, names })]));
  const figures = METRICS.map((name): Column<Series> => ({
    id: name,
    header: t.short[name],
    align: 'right',
    // On phones, two name columns leave room for only one figure.
    isWideOnly: name !== metric && (named.length > 1 || (name !== 'spend' && name !== 'requests')),
    minWidth: name === metric ? undefined : MIN_WIDTHS[name],
    cell: ({ total }) => <Figure metric={name} sums={total} />,
    total: report === undefined ? undefined : <Figure metric={name} sums={report.total} />,
  }));
  const change: Column<Series> = {
    id: 'change',
    header: t.change,
    align: 'right',
    cell: ({ total, former }) => <Change part={changeOf(total[metric], former?.[metric] ?? null)} />,
    total: <Change part={changeOf(report?.total[metric] ?? null, report?.former?.total[metric] ?? null)} />,
  };
  return (
    <Table
      caption={t.chartLabel(t.title, groupsLabel(spec))}
      columns={isCompared ? [...named, change, ...figures] : [...named, ...figures]}
      rows={report?.series}
      rowId={({ names: rowNames }) => JSON.stringify(rowNames)}
      error={error}
      onRetry={onRetry}
      empty={{ ...t.empty, action: <LinkButton to="/start">{t.firstSteps}</LinkButton> }}
      onClearFilters={onClearFilters}
      hasTotals
    />
  );
}

interface NameColumn {
  readonly group: Group;
  readonly index: number;
  readonly search: UsageSearch;
  readonly names: Names;
}

/** Returns the column of a grouping. Each name links to its requests, with the same range and filters. */
function nameColumn({ group, index, search, names }: NameColumn): Column<Series> {
  return {
    id: group,
    header: t.groups[group],
    total: index === 0 ? t.total : undefined,
    cell: ({ names: rowNames, count }) => {
      if (rowNames === null) return index === 0 && <span className="whitespace-nowrap text-muted">{t.other(count)}</span>;
      const name = rowNames[index] ?? '';
      const label = nameLabel(name, group, names);
      if (name === '') return <span className="whitespace-nowrap text-muted">{label}</span>;
      return <NameLink name={name} label={label} group={group} search={search} />;
    },
  };
}

interface NameLinkProps {
  readonly name: string;
  readonly label: string;
  readonly group: Group;
  readonly search: UsageSearch;
}

function NameLink({ name, label, group, search }: NameLinkProps): JSX.Element {
  const source = useRef<HTMLSpanElement>(null);
  const copyLabel = COPY_LABELS[group];
  return (
    <span className="inline-flex items-center gap-1">
      <span ref={source} className="max-sm:max-w-32 max-sm:wrap-anywhere">
        <Link to="/requests" search={{ ...requestsSearch(search), [group]: name }} title={t.seeRequests} className="link">
          <Breakable text={label} />
        </Link>
      </span>
      {copyLabel !== undefined && (
        <span className="max-sm:hidden">
          <CopyButton text={name} what={`${copyLabel} ${label}`} source={source} />
        </span>
      )}
    </span>
  );
}

/** Groupings whose values can be copied, because they are useful elsewhere, such as in a request. */
const COPY_LABELS: Readonly<Partial<Record<Group, string>>> = t.copied;

function Figure({ metric, sums }: { readonly metric: Metric; readonly sums: Sums }): JSX.Element {
  const value = sums[metric];
  if (metric === 'spend') return <Money usd={String(value)} />;
  if (isMean(metric) || value === null) return <span className="figures whitespace-nowrap">{formatValue(metric, value)}</span>;
  if (metric.endsWith('_tokens')) return <Count value={Number(value)} isCompact />;
  if (metric !== 'errors' || sums.errors === 0) return <Count value={Number(value)} />;
  return (
    <span className="whitespace-nowrap">
      <Count value={Number(value)} /> <span className="text-xs text-muted">({formatPercent(Number(value) / Number(sums.requests))})</span>
    </span>
  );
}

function Change({ part }: { readonly part: number | undefined }): JSX.Element {
  if (part === undefined) return <span className="text-muted">–</span>;
  return <span className="figures whitespace-nowrap">{formatChange(part)}</span>;
}
