import type { UseQueryResult } from '@tanstack/react-query';
import type { JSX, ReactNode } from 'react';
import { formatCount } from '../../numbers.ts';
import { requests as t } from '../../strings/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { Card } from '../../ui/card.tsx';
import { Pagination } from '../../ui/pagination.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { usePages } from '../../use-pages.ts';
import type { Refused } from './queries.ts';
import { BreakableCode, RowLink } from './table.tsx';

interface RefusedTableProps<Row extends Refused> {
  readonly refused: readonly Row[] | undefined;
  readonly error?: unknown;
  readonly onRetry?: () => void;
  /** Column for the key or account of each request. */
  readonly ownerColumn: Column<Row>;
  readonly openId: string | undefined;
  readonly onOpen: (id: string) => void;
  readonly onClearFilters?: (() => void) | undefined;
}

/** Refused requests, newest first, with the reason. Each opens its details. */
export function RefusedTable<Row extends Refused>({ refused, ownerColumn, onOpen, ...rest }: RefusedTableProps<Row>): JSX.Element {
  return (
    <Table
      caption={t.refused.caption}
      columns={columnsFor(ownerColumn)}
      rows={refused}
      rowId={({ id }) => id}
      empty={t.refused.empty}
      onOpen={({ id }) => onOpen(id)}
      {...rest}
    />
  );
}

interface RefusedPagesProps<Row extends Refused> extends Pick<
  RefusedTableProps<Row>,
  'ownerColumn' | 'openId' | 'onOpen' | 'onClearFilters'
> {
  readonly query: UseQueryResult<{ readonly refused: readonly Row[]; readonly next: string | null }>;
  /** Start of the current page. */
  readonly at: string | undefined;
  readonly onGo: (at: string | undefined) => void;
}

/** Refused requests in pages. */
export function RefusedPages<Row extends Refused>({ query, at, onGo, ...table }: RefusedPagesProps<Row>): JSX.Element {
  const { data: page, error, refetch } = query;
  const pages = usePages({ at, next: page?.next, onGo });
  return (
    <Card isFlush>
      <RefusedTable refused={page?.refused} error={error} onRetry={() => void refetch()} {...table} />
      <Pagination text={page === undefined ? undefined : t.refused.shown(page.refused.length)} {...pages} />
    </Card>
  );
}

function columnsFor<Row extends Refused>(ownerColumn: Column<Row>): Column<Row>[] {
  const { columns } = t;
  return [
    {
      id: 'time',
      header: columns.time,
      className: 'max-sm:w-24',
      cell: ({ id, atMs, status }) => (
        <RowLink atMs={atMs} to={{ view: 'refused', request: id }}>
          <RefusedStatus status={status} />
        </RowLink>
      ),
    },
    { id: 'status', header: columns.status, isWideOnly: true, cell: ({ status }) => <RefusedStatus status={status} /> },
    { id: 'error', header: t.refused.error, cell: (row) => <RefusalReason refused={row} /> },
    {
      id: 'model',
      header: columns.model,
      minWidth: 'medium',
      cell: ({ model }) => (
        <span className="block max-w-48 truncate" title={model ?? undefined}>
          {model ?? '–'}
        </span>
      ),
    },
    ownerColumn,
    { id: 'stream', header: columns.stream, minWidth: 'large', cell: ({ isStreaming }) => (isStreaming ? t.streamed : '–') },
  ];
}

/** HTTP status of the response. From 500 on, the fault is on the server. */
export function RefusedStatus({ status }: Pick<Refused, 'status'>): JSX.Element {
  return <Badge tone={status >= 500 ? 'bad' : 'warn'}>{status}</Badge>;
}

/** Error code and the beginning of the message. */
function RefusalReason({ refused: { errorCode, message, others } }: { readonly refused: Refused }): ReactNode {
  return (
    <span className="block max-w-[40rem] min-w-0">
      <BreakableCode code={errorCode} />
      <span className="line-clamp-2 text-muted" title={message}>
        {message}
      </span>
      {others > 0 && <span className="block text-xs">{t.refused.others(formatCount(others))}</span>}
    </span>
  );
}
