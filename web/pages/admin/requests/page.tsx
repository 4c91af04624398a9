import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { JSX } from 'react';
import { compact, given, type ChangeOf } from '../../../search-params.ts';
import { adminRequests as t, filters, requests } from '../../../strings/index.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { FilterBar, SearchInput } from '../../../ui/filter-bar.tsx';
import { FilterSelect, plainChoices } from '../../../ui/filter-select.tsx';
import { PageHeader } from '../../../ui/page-header.tsx';
import { Pagination } from '../../../ui/pagination.tsx';
import type { Column } from '../../../ui/table.tsx';
import { usePages } from '../../../use-pages.ts';
import { useZoneOfAddress } from '../../../zone.ts';
import { CutShort } from '../../requests/cut-short.tsx';
import { ErrorFilter, RangeLine, StatusFilter } from '../../requests/filters.tsx';
import { RequestTable } from '../../requests/table.tsx';
import { AdminRequestDrawer } from './drawer.tsx';
import { namesQuery, pageQuery, type AdminRequest } from './queries.ts';
import { FILTERS, type AdminRequestsSearch } from './search.ts';

const route = getRouteApi('/app/admin/requests');

const ACCOUNT: Column<AdminRequest> = {
  id: 'account',
  header: t.accountColumn,
  room: 'large',
  cell: ({ email, keyName }) => (
    <span className="block max-w-32">
      <span className="block truncate" title={email}>
        {email}
      </span>
      <span className="block truncate text-xs text-muted">{keyName}</span>
    </span>
  ),
};

/** The requests of all accounts, newest first. */
export function AdminRequestsPage(): JSX.Element {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const zone = useZoneOfAddress();
  const { data: page, error, refetch } = useQuery(pageQuery(search, zone, Date.now()));
  const change = (changed: ChangeOf<AdminRequestsSearch>): void =>
    void navigate({ search: (old) => compact({ ...old, before: undefined, ...changed }), replace: true });
  const open = (request: string | undefined): void => void navigate({ search: (old) => compact({ ...old, request }) });
  const pages = usePages({ at: search.before, next: page?.next, onGo: (before) => change({ before }) });
  const isFiltered = FILTERS.some((name) => search[name] !== undefined);
  const clear = isFiltered ? () => change(Object.fromEntries(FILTERS.map((name) => [name, undefined]))) : undefined;
  const isUnfinished = page?.isCutShort === true;
  return (
    <>
      <PageHeader title={t.title} text={t.text} />
      <Filters search={search} onChange={change} onClear={clear} />
      <Card isFlush>
        {search.q !== undefined && page?.requests.length === 0 && <p className="px-5 pt-5 text-center text-sm text-muted">{t.noneOfId}</p>}
        {isUnfinished && page.requests.length === 0 ? null : (
          <RequestTable
            requests={page?.requests}
            error={error}
            onRetry={() => void refetch()}
            whose={ACCOUNT}
            action={<Button onClick={() => change({ range: '30d' })}>{t.everything}</Button>}
            openId={search.request}
            onOpen={open}
            onClearFilters={clear}
          />
        )}
        {isUnfinished && <CutShort next={page.next} onOlder={pages.onNext} />}
        <Pagination text={page === undefined ? undefined : requests.shown(page.requests.length)} {...pages} />
      </Card>
      <AdminRequestDrawer id={search.request} onClose={() => open(undefined)} />
    </>
  );
}

interface FiltersProps {
  readonly search: AdminRequestsSearch;
  readonly onChange: (change: ChangeOf<AdminRequestsSearch>) => void;
  readonly onClear: (() => void) | undefined;
}

function Filters({ search, onChange, onClear }: FiltersProps): JSX.Element {
  const { data: names } = useQuery(namesQuery);
  return (
    <>
      <RangeLine search={search} onChange={onChange} />
      <FilterBar onClear={onClear}>
        <SearchInput label={t.id} value={search.q ?? ''} onText={(text) => onChange({ q: given(text) })} />
        <SearchInput label={t.account} value={search.account ?? ''} onText={(text) => onChange({ account: given(text) })} />
        <SearchInput label={t.key} value={search.key ?? ''} onText={(text) => onChange({ key: given(text) })} />
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
    </>
  );
}
