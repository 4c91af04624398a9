import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { accountLabel } from '../../../account-label.ts';
import { isMinorStep } from '../../../back-button.ts';
import { compact, nonBlank, type ChangeOf } from '../../../search-params.ts';
import { adminAccounts as t } from '../../../strings/index.ts';
import { Breakable } from '../../../ui/breakable.tsx';
import { Card } from '../../../ui/card.tsx';
import { DateTime, RelativeTime } from '../../../ui/date-time.tsx';
import { FilterBar, SearchInput } from '../../../ui/filter-bar.tsx';
import { FilterSelect, labelled } from '../../../ui/filter-select.tsx';
import { Money } from '../../../ui/money.tsx';
import { PageHeader } from '../../../ui/page-header.tsx';
import { Pagination } from '../../../ui/pagination.tsx';
import { Table } from '../../../ui/table.tsx';
import type { Column } from '../../../ui/table.tsx';
import { usePages } from '../../../use-pages.ts';
import { AccountStatus } from './account-status.tsx';
import { accountsQuery, type AccountRow } from './queries.ts';
import { STATUSES, withoutSecret } from './search.ts';
import type { AccountsSearch } from './search.ts';

const route = getRouteApi('/app/admin/accounts');

const COLUMNS: readonly Column<AccountRow>[] = [
  {
    id: 'account',
    header: t.account,
    cell: (account) => (
      <>
        <Link to="/admin/accounts/$id" params={{ id: account.id }} className="font-medium wrap-anywhere hover:underline">
          <Breakable text={accountLabel(account.email)} />
        </Link>
        <span className="mt-1 block sm:hidden">
          <AccountStatus {...account} />
        </span>
      </>
    ),
  },
  { id: 'status', header: t.status, isWideOnly: true, cell: (account) => <AccountStatus {...account} /> },
  { id: 'available', header: t.available, align: 'right', cell: ({ availableUsd }) => <Money usd={availableUsd} /> },
  { id: 'held', header: t.held, align: 'right', minWidth: 'large', cell: ({ heldUsd }) => <Money usd={heldUsd} /> },
  { id: 'plan', header: t.plan, isWideOnly: true, cell: ({ plan }) => plan ?? <span className="text-muted">{t.none}</span> },
  {
    id: 'request',
    header: t.lastRequest,
    isWideOnly: true,
    cell: ({ lastRequestAtMs: atMs }) => (atMs === null ? <span className="text-muted">{t.never}</span> : <RelativeTime atMs={atMs} />),
  },
  { id: 'created', header: t.created, minWidth: 'large', cell: ({ createdAtMs }) => <DateTime atMs={createdAtMs} /> },
];

/** Searchable list of all accounts. */
export function AccountsPage(): JSX.Element {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error, refetch } = useQuery(accountsQuery(search));
  const go = (change: ChangeOf<AccountsSearch>): void =>
    void navigate({ search: (old) => compact({ ...old, before: undefined, ...change }), replace: isMinorStep() });
  const pages = usePages({ at: search.before, next: data?.next, onGo: (before) => go({ before }) });
  const isFiltered = search.q !== undefined || search.status !== undefined;
  const clear = isFiltered ? () => go({ q: undefined, status: undefined }) : undefined;
  return (
    <>
      <PageHeader title={t.title} text={t.text} />
      <FilterBar onClear={clear}>
        <SearchInput label={t.search} value={search.q ?? ''} onText={(text) => go({ q: nonBlank(withoutSecret(text.trim())) })} />
        <FilterSelect
          label={t.status}
          all={t.anyStatus}
          choices={labelled(STATUSES, t.statuses)}
          value={search.status}
          onChoose={(status) => go({ status })}
        />
      </FilterBar>
      <Card isFlush>
        <Table
          caption={t.caption}
          columns={COLUMNS}
          rows={data?.accounts}
          rowId={({ id }) => id}
          error={error}
          onRetry={() => void refetch()}
          empty={t.empty}
          onClearFilters={clear}
        />
        <Pagination {...pages} />
      </Card>
    </>
  );
}
