import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Download } from 'lucide-react';
import type { JSX } from 'react';
import { compact } from '../../search-params.ts';
import { billing as t } from '../../strings/index.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { DateTime } from '../../ui/date-time.tsx';
import { Money } from '../../ui/money.tsx';
import { Pagination } from '../../ui/pagination.tsx';
import { Select } from '../../ui/select.tsx';
import { Table } from '../../ui/table.tsx';
import type { Column } from '../../ui/table.tsx';
import { useZone } from '../../zone.ts';
import { statementQuery } from './queries.ts';
import type { StatementRow } from './queries.ts';
import { KINDS } from './search.ts';
import type { BillingSearch } from './search.ts';

const route = getRouteApi('/app/billing');

const COLUMNS: readonly Column<StatementRow>[] = [
  { id: 'time', header: t.statement.time, cell: ({ atMs }) => <DateTime atMs={atMs} precision="second" /> },
  { id: 'what', header: t.statement.what, cell: (row) => <What row={row} />, className: 'min-w-40' },
  { id: 'amount', header: t.statement.amount, align: 'right', cell: ({ amountUsd }) => <Money usd={amountUsd} isSigned isExact /> },
  { id: 'balance', header: t.statement.balanceAfter, align: 'right', cell: ({ balanceUsd }) => <Money usd={balanceUsd} isExact /> },
];

/** Every movement, newest first, with the balance that it left. */
export function StatementCard(): JSX.Element {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error, refetch } = useQuery(statementQuery(search));
  const go = (change: Partial<Record<keyof BillingSearch, string | undefined>>): void =>
    void navigate({ search: (old) => compact({ ...old, ...change }) as BillingSearch, resetScroll: false });
  return (
    <Card
      className="mt-4"
      title={t.statement.title}
      hint={t.statement.hint}
      isFlush
      actions={<Actions kind={search.kind} onKind={(kind) => go({ kind, after: undefined })} />}
    >
      <Table
        caption={t.statement.caption}
        columns={COLUMNS}
        rows={data?.lines}
        rowId={({ id }) => id}
        error={error}
        onRetry={() => void refetch()}
        empty={t.statement.empty}
        onClearFilters={search.kind === undefined ? undefined : () => go({ kind: undefined, after: undefined })}
      />
      {data !== undefined && data.lines.length > 0 && (
        <Pagination
          onFormer={search.after === undefined ? undefined : () => go({ after: undefined })}
          onNext={data.next === null ? undefined : () => go({ after: data.next ?? undefined })}
        />
      )}
    </Card>
  );
}

function Actions({
  kind,
  onKind,
}: {
  readonly kind: string | undefined;
  readonly onKind: (kind: string | undefined) => void;
}): JSX.Element {
  const zone = useZone();
  const query = new URLSearchParams({ zone, ...(kind !== undefined && { kind }) });
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
        onChoose={(value) => onKind(value === '' ? undefined : value)}
      />
      <a href={`/api/statement/export?${query}`} download className={buttonClass({ size: 'md' })}>
        <Download aria-hidden="true" />
        {t.statement.csv}
      </a>
    </>
  );
}

function What({ row }: { readonly row: StatementRow }): JSX.Element {
  const kind = KINDS.find((name) => name === row.kind);
  return (
    <>
      <span className="block">{kind === undefined ? row.kind : t.statement.rows[kind]}</span>
      <span className="block text-xs break-words text-muted">{row.kind === 'usage' ? row.id : row.reason}</span>
    </>
  );
}
