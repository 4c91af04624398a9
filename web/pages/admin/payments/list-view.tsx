import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { accountLabel } from '../../../account-label.ts';
import { nonBlank } from '../../../search-params.ts';
import { adminPayments as t } from '../../../strings/index.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Breakable } from '../../../ui/breakable.tsx';
import { Card } from '../../../ui/card.tsx';
import { Copyable } from '../../../ui/copyable.tsx';
import { DateTime } from '../../../ui/date-time.tsx';
import { FilterBar, SearchInput } from '../../../ui/filter-bar.tsx';
import { FilterSelect, labelled } from '../../../ui/filter-select.tsx';
import { Pagination } from '../../../ui/pagination.tsx';
import { Table } from '../../../ui/table.tsx';
import type { Column } from '../../../ui/table.tsx';
import { usePages } from '../../../use-pages.ts';
import { PAYMENT_TONES, PaidAmount } from '../../billing/payments-card.tsx';
import { OpenButton } from './open-button.tsx';
import { listQuery, type Payment } from './queries.ts';
import { STATUSES, type ViewProps } from './search.ts';

/** All payments, or only open bank transfers. */
export function ListView({ search, go }: ViewProps): JSX.Element {
  const { data, error, refetch } = useQuery(listQuery(search));
  const pages = usePages({ at: search.before, next: data?.next, onGo: (before) => go({ before }) });
  const isAll = search.view !== 'transfers';
  const filter = (change: Parameters<typeof go>[0]): void => go({ before: undefined, ...change });
  const isFiltered = search.status !== undefined || search.account !== undefined || search.reference !== undefined;
  const clear = isAll && isFiltered ? () => filter({ status: undefined, account: undefined, reference: undefined }) : undefined;
  return (
    <>
      {isAll && (
        <FilterBar onClear={clear}>
          <SearchInput label={t.accountOrId} value={search.account ?? ''} onText={(text) => filter({ account: nonBlank(text) })} />
          <SearchInput label={t.reference} value={search.reference ?? ''} onText={(text) => filter({ reference: nonBlank(text) })} />
          <FilterSelect
            label={t.status}
            all={t.anyStatus}
            choices={labelled(STATUSES, t.statuses)}
            value={search.status}
            onChoose={(status) => filter({ status })}
          />
        </FilterBar>
      )}
      <Card isFlush>
        <Table
          caption={t.caption}
          columns={columnsOf((payment) => go({ payment }))}
          rows={data?.payments}
          rowId={({ id }) => id}
          error={error}
          onRetry={() => void refetch()}
          empty={isAll ? t.empty : t.noTransfers}
          onClearFilters={clear}
          onOpen={({ id }) => go({ payment: id })}
          openId={search.payment}
        />
        <Pagination {...pages} />
      </Card>
    </>
  );
}

/** Status of a payment, and what went wrong. */
export function State({ payment: { status, reason } }: { readonly payment: Pick<Payment, 'status' | 'reason'> }): JSX.Element {
  return (
    <>
      <Badge tone={PAYMENT_TONES[status]}>{t.statuses[status]}</Badge>
      {reason !== '' && <span className="mt-1 block max-w-64 text-xs text-muted">{reason}</span>}
    </>
  );
}

/** Wraps after the @, within a part only if it is too long. */
function Email({ text }: { readonly text: string }): JSX.Element {
  return (
    <span className="wrap-anywhere">
      <Breakable text={accountLabel(text)} />
    </span>
  );
}

function columnsOf(onOpen: (id: string) => void): readonly Column<Payment>[] {
  return [
    {
      id: 'time',
      header: t.time,
      cell: ({ id, createdAtMs, email }) => (
        <>
          <OpenButton onOpen={() => onOpen(id)}>
            <DateTime atMs={createdAtMs} mayBreak />
          </OpenButton>
          <span className="block text-xs sm:hidden">
            <Email text={email} />
          </span>
        </>
      ),
    },
    { id: 'account', header: t.account, isWideOnly: true, cell: ({ email }) => <Email text={email} /> },
    { id: 'amount', header: t.amount, align: 'right', cell: (payment) => <PaidAmount payment={payment} /> },
    { id: 'status', header: t.status, cell: (payment) => <State payment={payment} /> },
    { id: 'way', header: t.way, minWidth: 'large', cell: ({ way }) => t.ways[way] },
    {
      id: 'reference',
      header: t.reference,
      isWideOnly: true,
      className: 'max-w-56',
      cell: ({ reference }) =>
        reference === null ? (
          t.none
        ) : (
          // Pressing the copy button must not open the row.
          <span role="presentation" onClick={(event) => event.stopPropagation()}>
            <Copyable text={reference} what={t.whats.reference} />
          </span>
        ),
    },
  ];
}
