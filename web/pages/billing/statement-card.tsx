import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Download } from 'lucide-react';
import type { JSX } from 'react';
import { isMinorStep } from '../../back-button.ts';
import { compact, nonBlank } from '../../search-params.ts';
import { billing as t } from '../../strings/index.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Copyable } from '../../ui/copyable.tsx';
import { cx } from '../../ui/cx.ts';
import { DateTime } from '../../ui/date-time.tsx';
import { DayInput } from '../../ui/day-input.tsx';
import { Money } from '../../ui/money.tsx';
import { Pagination } from '../../ui/pagination.tsx';
import { Select } from '../../ui/select.tsx';
import { Table } from '../../ui/table.tsx';
import type { Column } from '../../ui/table.tsx';
import { usePages } from '../../use-pages.ts';
import { useZone } from '../../zone.ts';
import { apiUrl } from '../../viewed.ts';
import { statementFilter, statementQuery } from './queries.ts';
import type { StatementRow } from './queries.ts';
import { KINDS } from './search.ts';
import type { BillingSearch } from './search.ts';
import { TopUpLink } from './top-up-link.tsx';

const route = getRouteApi('/app/billing');

/** Columns of the statement. */
export const STATEMENT_COLUMNS: readonly Column<StatementRow>[] = [
  {
    id: 'time',
    header: t.statement.time,
    cell: ({ atMs }) => <DateTime atMs={atMs} precision="second" mayBreak />,
    isWideOnly: true,
    className: '@min-[43rem]/list:whitespace-nowrap',
  },
  {
    id: 'what',
    header: t.statement.what,
    cell: (row) => (
      <>
        <Description row={row} />
        <TimeOnPhone atMs={row.atMs} />
      </>
    ),
    className: 'sm:min-w-40',
  },
  {
    id: 'amount',
    header: (
      <>
        {t.statement.amount} <span className="block font-normal sm:hidden">{t.statement.balanceAfter}</span>
      </>
    ),
    align: 'right',
    cell: ({ amountUsd, balanceUsd }) => (
      <>
        <Money usd={amountUsd} isSigned isExact />
        <span className="block text-xs text-muted sm:hidden">
          <Money usd={balanceUsd} isExact />
        </span>
      </>
    ),
  },
  {
    id: 'balance',
    header: t.statement.balanceAfter,
    align: 'right',
    isWideOnly: true,
    cell: ({ balanceUsd }) => <Money usd={balanceUsd} isExact />,
  },
];

/** Statement: every entry, newest first, with the balance after it. */
export function StatementCard(): JSX.Element {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const zone = useZone();
  const filter = statementFilter(search, zone);
  const { data, error, refetch } = useQuery(statementQuery(filter, search.after));
  const isFiltered = Object.keys(filter).length > 0;
  const go = (change: Partial<Record<keyof BillingSearch, string | undefined>>): void =>
    void navigate({ search: (old) => compact({ ...old, ...change }) as BillingSearch, resetScroll: false, replace: isMinorStep() });
  const pages = usePages({ at: search.after, next: data?.next, onGo: (after) => go({ after }) });
  return (
    <Card
      className="mt-6"
      title={t.statement.title}
      hint={search.from === undefined && search.to === undefined ? t.statement.hint : t.statement.days(zone)}
      isFlush
      actions={<Actions search={search} filter={filter} onChange={(change) => go({ ...change, after: undefined })} />}
    >
      <Table
        caption={t.statement.caption}
        columns={STATEMENT_COLUMNS}
        rows={data?.lines}
        rowId={({ id }) => id}
        error={error}
        onRetry={() => void refetch()}
        empty={{ ...t.statement.empty, action: <TopUpLink /> }}
        onClearFilters={isFiltered ? () => go({ kind: undefined, from: undefined, to: undefined, after: undefined }) : undefined}
      />
      {data !== undefined && data.lines.length > 0 && <Pagination {...pages} />}
    </Card>
  );
}

interface ActionsProps {
  readonly search: BillingSearch;
  readonly filter: Readonly<Record<string, string>>;
  readonly onChange: (change: Partial<Record<'kind' | 'from' | 'to', string | undefined>>) => void;
}

function Actions({ search: { kind, from, to }, filter, onChange }: ActionsProps): JSX.Element {
  const zone = useZone();
  const choices = [
    { value: '', label: t.statement.all },
    ...KINDS.map((value) => ({ value: value as string, label: t.statement.kinds[value] })),
  ];
  return (
    <>
      <Select
        aria-label={t.statement.kind}
        value={kind ?? ''}
        choices={choices}
        onChoose={(value) => onChange({ kind: nonBlank(value) })}
        className={kind === undefined ? 'print:hidden' : ''}
      />
      <span
        className={cx('flex flex-wrap items-center gap-1.5 text-sm text-muted', from === undefined && to === undefined && 'print:hidden')}
      >
        <DayInput label={t.statement.from} value={from ?? ''} max={to} onDay={(day) => onChange({ from: nonBlank(day) })} />
        –
        <DayInput label={t.statement.to} value={to ?? ''} min={from} onDay={(day) => onChange({ to: nonBlank(day) })} />
      </span>
      <a
        href={apiUrl(`/api/statement/export?${new URLSearchParams({ zone, ...filter })}`)}
        download
        className={buttonClass({ size: 'md' })}
      >
        <Download aria-hidden="true" />
        {t.statement.csv}
      </a>
    </>
  );
}

/** Returns the label of an entry's kind. */
export function kindLabel(row: StatementRow): string {
  const kind = KINDS.find((name) => name === row.kind);
  return kind === undefined ? row.kind : t.statement.rows[kind];
}

/** The time of an entry, where its own column is hidden. */
export function TimeOnPhone({ atMs }: { readonly atMs: number }): JSX.Element {
  return (
    <span className="block text-xs text-muted sm:hidden">
      <DateTime atMs={atMs} precision="second" />
    </span>
  );
}

function Description({ row }: { readonly row: StatementRow }): JSX.Element {
  return (
    <>
      <span className="block">{kindLabel(row)}</span>
      {row.kind === 'usage' ? (
        <span className="flex flex-wrap items-center gap-x-2 text-muted">
          <Copyable text={row.id} what={t.statement.requestId} className="max-sm:hidden @max-[58rem]/list:max-w-48" />
          <Link to="/requests" search={{ request: row.id }} className="link text-xs">
            {t.statement.open}
          </Link>
        </span>
      ) : (
        <span className="block text-xs wrap-anywhere text-muted">{row.reason}</span>
      )}
    </>
  );
}
