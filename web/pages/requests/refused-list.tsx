import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { NamesFault } from '../../name-filters.tsx';
import { keyLabel, type Names } from '../../names.ts';
import { nonBlank, type ChangeOf } from '../../search-params.ts';
import { filters, requests as t } from '../../strings/index.ts';
import { FilterBar, SearchInput } from '../../ui/filter-bar.tsx';
import { FilterSelect, plainChoices } from '../../ui/filter-select.tsx';
import { refusedQuery } from './queries.ts';
import { RefusedPages } from './refused-table.tsx';
import { REFUSALS, type RequestsSearch } from './search.ts';
import { keyColumn } from './table.tsx';

interface RefusedProps {
  readonly search: RequestsSearch;
  readonly names: Names;
  readonly onChange: (change: ChangeOf<RequestsSearch>) => void;
}

const NO_FILTER = { q: undefined, key: undefined, http: undefined } as const;

function clearFilters({ search: { q, key, http }, onChange }: RefusedProps): (() => void) | undefined {
  return q === undefined && key === undefined && http === undefined ? undefined : () => onChange(NO_FILTER);
}

/** Filters of refused requests. */
export function RefusedFilters(props: RefusedProps): JSX.Element {
  const { search, names, onChange } = props;
  return (
    <>
      <FilterBar onClear={clearFilters(props)}>
        <SearchInput label={t.filters.id} value={search.q ?? ''} onText={(text) => onChange({ q: nonBlank(text) })} />
        <FilterSelect
          label={filters.status}
          all={filters.anyStatus}
          choices={plainChoices(REFUSALS)}
          value={search.http}
          onChoose={(http) => onChange({ http: REFUSALS.find((each) => each === http) })}
        />
        <FilterSelect
          label={filters.key}
          all={filters.allKeys}
          choices={names.keys.map(({ id }) => ({ value: id, label: keyLabel(id, names) }))}
          value={search.key}
          onChoose={(key) => onChange({ key })}
        />
      </FilterBar>
      <NamesFault />
    </>
  );
}

/** The account's refused requests, newest first, in pages. */
export function RefusedList(props: RefusedProps & { readonly onOpen: (id: string) => void }): JSX.Element {
  const { search, names, onChange, onOpen } = props;
  return (
    <RefusedPages
      query={useQuery(refusedQuery(search))}
      at={search.before}
      onGo={(before) => onChange({ before, live: undefined })}
      ownerColumn={keyColumn(names)}
      openId={search.request}
      onOpen={onOpen}
      onClearFilters={clearFilters(props)}
    />
  );
}
