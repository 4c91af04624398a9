import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { JSX } from 'react';
import { accountLabel } from '../../../account-label.ts';
import { isMinorStep } from '../../../back-button.ts';
import { ListsFault } from '../../../name-filters.tsx';
import { compact, nonBlank, type ChangeOf } from '../../../search-params.ts';
import { adminRequests as t, filters, requests } from '../../../strings/index.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { FilterBar, SearchInput } from '../../../ui/filter-bar.tsx';
import { FilterSelect, plainChoices } from '../../../ui/filter-select.tsx';
import { PageHeader } from '../../../ui/page-header.tsx';
import { Pagination } from '../../../ui/pagination.tsx';
import type { Column } from '../../../ui/table.tsx';
import { usePages } from '../../../use-pages.ts';
import { useZoneInUrl } from '../../../zone.ts';
import { CutShort } from '../../requests/cut-short.tsx';
import { ErrorFilter, RangeLine, StatusFilter, ViewSwitch } from '../../requests/filters.tsx';
import { RefusedPages, RefusedTable } from '../../requests/refused-table.tsx';
import { RequestTable } from '../../requests/table.tsx';
import { AdminRequestDrawer } from './drawer.tsx';
import { namesQuery, pageQuery, refusedQuery, type AdminRequest } from './queries.ts';
import { FILTERS, REFUSED_FILTERS, type AdminRequestsSearch } from './search.ts';

const route = getRouteApi('/app/admin/requests');

const ACCOUNT_COLUMN: Column<Pick<AdminRequest, 'email' | 'keyName'>> = {
  id: 'account',
  header: t.accountColumn,
  minWidth: 'large',
  cell: ({ email, keyName }) => (
    <span className="block max-w-28 @min-[68rem]/list:max-w-40">
      <span className="block truncate" title={email}>
        {accountLabel(email)}
      </span>
      <span dir="auto" className="block truncate text-left text-xs text-muted">
        {keyName}
      </span>
    </span>
  ),
};

/** Requests of all accounts, newest first: admitted or refused. */
export function AdminRequestsPage(): JSX.Element {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const zone = useZoneInUrl();
  const change = (changed: ChangeOf<AdminRequestsSearch>): void =>
    void navigate({
      search: (old) => compact({ ...old, before: undefined, ...changed }),
      replace: isMinorStep(),
      resetScroll: 'before' in changed,
    });
  const open: ListProps['onOpen'] = (changed) => void navigate({ search: (old) => compact({ ...old, ...changed }), resetScroll: false });
  const isRefused = search.view === 'refused';
  const names = isRefused ? REFUSED_FILTERS : FILTERS;
  const isFiltered = names.some((name) => search[name] !== undefined);
  const clear = isFiltered ? () => change(Object.fromEntries(names.map((name) => [name, undefined]))) : undefined;
  const List = isRefused ? RefusedList : RequestList;
  return (
    <>
      <PageHeader title={t.title} text={isRefused ? t.refusedText : t.text} />
      <ViewSwitch search={search} onChange={change} />
      <Filters search={search} onChange={change} onClear={clear} />
      <List search={search} zone={zone} onChange={change} onOpen={open} onClear={clear} />
      <AdminRequestDrawer id={search.request} isRefused={isRefused} onClose={() => open({ request: undefined })} />
    </>
  );
}

interface ListProps extends FiltersProps {
  readonly zone: string;
  readonly onOpen: (changed: Pick<AdminRequestsSearch, 'view'> & { readonly request: string | undefined }) => void;
}

function RequestList({ search, zone, onChange, onOpen, onClear }: ListProps): JSX.Element {
  const { data: page, error, refetch } = useQuery(pageQuery(search, zone, Date.now()));
  const pages = usePages({ at: search.before, next: page?.next, onGo: (before) => onChange({ before }) });
  const isEmpty = page?.requests.length === 0;
  const refused = useQuery({ ...refusedQuery({ q: search.q ?? '' }), enabled: search.q !== undefined && isEmpty });
  const isCutShort = page?.isCutShort === true;
  if (search.q !== undefined && isEmpty && refused.data?.refused.length === 1)
    return (
      <Card title={requests.refused.found} isFlush>
        <RefusedTable
          refused={refused.data.refused}
          ownerColumn={ACCOUNT_COLUMN}
          openId={undefined}
          onOpen={(request) => onOpen({ view: 'refused', request })}
        />
      </Card>
    );
  return (
    <Card isFlush>
      {search.q !== undefined && isEmpty && <p className="px-5 pt-5 text-center text-sm text-muted">{t.notFound}</p>}
      {isCutShort && isEmpty ? null : (
        <RequestTable
          requests={page?.requests}
          error={error}
          onRetry={() => void refetch()}
          ownerColumn={ACCOUNT_COLUMN}
          action={<Button onClick={() => onChange({ range: '30d' })}>{t.everything}</Button>}
          openId={search.request}
          onOpen={(request) => onOpen({ request })}
          onClearFilters={onClear}
        />
      )}
      {isCutShort && <CutShort next={page.next} onOlder={pages.onOlder} />}
      <Pagination text={page === undefined ? undefined : requests.shown(page.requests.length)} {...pages} />
    </Card>
  );
}

function RefusedList({ search, onChange, onOpen, onClear }: ListProps): JSX.Element {
  return (
    <RefusedPages
      query={useQuery({ ...refusedQuery(search), placeholderData: keepPreviousData })}
      at={search.before}
      onGo={(before) => onChange({ before })}
      ownerColumn={ACCOUNT_COLUMN}
      openId={search.request}
      onOpen={(request) => onOpen({ request })}
      onClearFilters={onClear}
    />
  );
}

interface FiltersProps {
  readonly search: AdminRequestsSearch;
  readonly onChange: (change: ChangeOf<AdminRequestsSearch>) => void;
  readonly onClear: (() => void) | undefined;
}

function Filters({ search, onChange, onClear }: FiltersProps): JSX.Element {
  const namesRead = useQuery(namesQuery);
  const names = namesRead.data;
  const ownerFilters = (
    <>
      <SearchInput label={t.id} value={search.q ?? ''} onText={(text) => onChange({ q: nonBlank(text) })} />
      <SearchInput label={t.account} value={search.account ?? ''} onText={(text) => onChange({ account: nonBlank(text) })} />
      <SearchInput label={t.key} value={search.key ?? ''} onText={(text) => onChange({ key: nonBlank(text) })} />
    </>
  );
  if (search.view === 'refused') return <FilterBar onClear={onClear}>{ownerFilters}</FilterBar>;
  return (
    <>
      <RangeLine search={search} onChange={onChange} />
      <FilterBar onClear={onClear}>
        {ownerFilters}
        <StatusFilter search={search} onChange={onChange} />
        <ErrorFilter search={search} onChange={onChange} />
        <FilterSelect
          label={filters.model}
          all={filters.allModels}
          choices={plainChoices(names?.models ?? [])}
          value={search.model}
          onChoose={(model) => onChange({ model })}
        />
        <FilterSelect
          label={filters.provider}
          all={filters.allProviders}
          choices={plainChoices(names?.providers ?? [])}
          value={search.provider}
          onChoose={(provider) => onChange({ provider })}
        />
      </FilterBar>
      <ListsFault {...namesRead} />
    </>
  );
}
