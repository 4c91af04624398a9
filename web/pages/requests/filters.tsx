import { useState } from 'react';
import type { JSX } from 'react';
import { nonBlank, type ChangeOf } from '../../search-params.ts';
import { REQUEST_ERRORS, REQUEST_STATUSES } from '../../../src/dashboard/contract.ts';
import { NameFilters, NamesFault } from '../../name-filters.tsx';
import type { Names } from '../../names.ts';
import { filters, requests as t } from '../../strings/index.ts';
import { Button } from '../../ui/button.tsx';
import { FilterBar, SearchInput } from '../../ui/filter-bar.tsx';
import { FilterSelect, labelled, plainChoices } from '../../ui/filter-select.tsx';
import { RangePicker } from '../../ui/range-picker.tsx';
import { Segmented } from '../../ui/segmented.tsx';
import { BoundInput } from './bound-input.tsx';
import { FILTERS, BOUNDS, STREAMS, VIEWS, type RequestsSearch } from './search.ts';

interface FiltersProps {
  readonly search: RequestsSearch;
  readonly names: Names;
  readonly onChange: (change: ChangeOf<RequestsSearch>) => void;
}

/** Finish reasons. */
const FINISHES = ['stop', 'length', 'tool_calls', 'content_filter'];
const RARE_FILTERS = ['end_user', 'served', 'stream', 'finish', 'error', ...BOUNDS] as const;

/** All filters. The rare ones are hidden until one is used. */
export function RequestFilters({ search, names, onChange }: FiltersProps): JSX.Element {
  const [isExpanded, setExpanded] = useState(RARE_FILTERS.some((name) => search[name] !== undefined));
  const isFiltered = FILTERS.some((name) => search[name] !== undefined);
  const clear = (): void => onChange(Object.fromEntries(FILTERS.map((name) => [name, undefined])));
  return (
    <>
      <RangeLine search={search} onChange={onChange} />
      <FilterBar onClear={isFiltered ? clear : undefined}>
        <SearchInput label={t.filters.id} value={search.q ?? ''} onText={(text) => onChange({ q: nonBlank(text) })} />
        <StatusFilter search={search} onChange={onChange} />
        <NameFilters search={search} names={names} onChange={onChange} />
        {isExpanded ? (
          <RareFilters search={search} onChange={onChange} />
        ) : (
          <Button size="sm" variant="quiet" onClick={() => setExpanded(true)}>
            {t.filters.more}
          </Button>
        )}
      </FilterBar>
      <NamesFault />
    </>
  );
}

function RareFilters({ search, onChange }: Omit<FiltersProps, 'names'>): JSX.Element {
  return (
    <>
      <SearchInput
        label={filters.endUser}
        value={search.end_user ?? ''}
        onText={(text) => onChange({ end_user: text === '' ? undefined : text })}
      />
      <SearchInput label={t.filters.served} value={search.served ?? ''} onText={(text) => onChange({ served: nonBlank(text) })} />
      <FilterSelect
        label={t.filters.stream}
        all={t.filters.anyStream}
        choices={labelled(STREAMS, { yes: t.filters.yes, no: t.filters.no })}
        value={search.stream}
        onChoose={(stream) => onChange({ stream })}
      />
      <FilterSelect
        label={t.filters.finish}
        all={t.filters.anyFinish}
        choices={plainChoices(FINISHES)}
        value={search.finish}
        onChoose={(finish) => onChange({ finish })}
      />
      <ErrorFilter search={search} onChange={onChange} />
      <div className="grid w-full grid-cols-2 items-start gap-x-2 gap-y-3 py-1 lg:grid-cols-4">
        {BOUNDS.map((name) => (
          <BoundInput key={name} name={name} value={search[name] ?? ''} onValue={(value) => onChange({ [name]: nonBlank(value) })} />
        ))}
      </div>
    </>
  );
}

/** Search parameters shared by the account's list of requests and the operator's list. */
type Shared = Pick<RequestsSearch, 'view' | 'range' | 'from' | 'to' | 'status' | 'error'>;

interface SharedProps {
  readonly search: Shared;
  readonly onChange: (change: ChangeOf<Shared>) => void;
}

/** Switches between admitted and refused requests. Filters that both lists know are kept. */
export function ViewSwitch({ search: { view = 'all' }, onChange }: SharedProps): JSX.Element {
  return (
    <Segmented
      label={t.viewsLabel}
      value={view}
      choices={labelled(VIEWS, t.views)}
      onChoose={(chosen) => onChange({ view: chosen === 'all' ? undefined : chosen })}
      className="mb-4"
    />
  );
}

export function RangeLine({ search: { range = '7d', from, to }, onChange }: SharedProps): JSX.Element {
  return (
    <div className="mb-4">
      <RangePicker
        choice={{ range, from, to }}
        onChoose={(choice) => onChange({ range: choice.range, from: choice.from, to: choice.to })}
      />
    </div>
  );
}

export function StatusFilter({ search, onChange }: SharedProps): JSX.Element {
  return (
    <FilterSelect
      label={filters.status}
      all={filters.anyStatus}
      choices={labelled(REQUEST_STATUSES, t.filters.statuses)}
      value={search.status}
      onChoose={(status) => onChange({ status })}
    />
  );
}

export function ErrorFilter({ search, onChange }: SharedProps): JSX.Element {
  return (
    <FilterSelect
      label={t.filters.errorCode}
      all={t.filters.anyError}
      choices={plainChoices(REQUEST_ERRORS)}
      value={search.error}
      onChoose={(error) => onChange({ error })}
    />
  );
}
