import { useState } from 'react';
import type { JSX } from 'react';
import { filterChoices, keyLabel, plainChoices, type Names } from '../../names.ts';
import { requests as t } from '../../strings/index.ts';
import { Button } from '../../ui/button.tsx';
import { FilterBar, SearchInput } from '../../ui/filter-bar.tsx';
import { RangePicker } from '../../ui/range-picker.tsx';
import { Select } from '../../ui/select.tsx';
import { FILTERS, type RequestsChange, type RequestsSearch } from './search.ts';

interface FiltersProps {
  readonly search: RequestsSearch;
  readonly names: Names;
  readonly onChange: (change: RequestsChange) => void;
}

/** Finish reasons and errors that a request can end with. */
const FINISHES = ['stop', 'length', 'tool_calls', 'content_filter'];
const ERRORS = [
  'provider_refused',
  'provider_rate_limited',
  'provider_error',
  'provider_unavailable',
  'provider_timeout',
  'provider_misconfigured',
  'ledger_unavailable',
  'internal_error',
];
const RARE = ['stream', 'finish', 'error', 'cost', 'tokens', 'ttft', 'duration'] as const;

/** Every filter there is; the rare ones are folded until one is used. */
export function RequestFilters({ search, names, onChange }: FiltersProps): JSX.Element {
  const [isUnfolded, setUnfolded] = useState(RARE.some((name) => search[name] !== undefined));
  const isFiltered = FILTERS.some((name) => search[name] !== undefined);
  const clear = (): void => onChange(Object.fromEntries(FILTERS.map((name) => [name, undefined])));
  return (
    <>
      <div className="mb-4">
        <RangePicker
          choice={{ range: search.range ?? '7d', from: search.from, to: search.to }}
          onChoose={({ range, from, to }) => onChange({ range, from, to })}
        />
      </div>
      <FilterBar onClear={isFiltered ? clear : undefined}>
        <SearchInput label={t.filters.id} value={search.q ?? ''} onText={(text) => onChange({ q: given(text.trim()) })} />
        <CommonFilters search={search} names={names} onChange={onChange} />
        {isUnfolded ? (
          <RareFilters search={search} onChange={onChange} />
        ) : (
          <Button size="sm" variant="quiet" onClick={() => setUnfolded(true)}>
            {t.filters.more}
          </Button>
        )}
      </FilterBar>
    </>
  );
}

function CommonFilters({ search, names, onChange }: FiltersProps): JSX.Element {
  const { model = '', key = '', provider = '' } = search;
  const keys = names.keys.map(({ id }) => ({ value: id, label: keyLabel(id, names) }));
  return (
    <>
      <Select
        aria-label={t.filters.status}
        value={search.status ?? ''}
        choices={[
          { value: '', label: t.filters.anyStatus },
          { value: 'ok', label: t.filters.ok },
          { value: 'error', label: t.filters.error },
        ]}
        onChoose={(status) => onChange({ status: status === '' ? undefined : status })}
      />
      <Select
        aria-label={t.filters.model}
        value={model}
        choices={filterChoices({ all: t.filters.allModels, values: plainChoices(names.models), chosen: model })}
        onChoose={(value) => onChange({ model: given(value) })}
        className="max-w-56"
      />
      <Select
        aria-label={t.filters.key}
        value={key}
        choices={filterChoices({ all: t.filters.allKeys, values: keys, chosen: key })}
        onChoose={(value) => onChange({ key: given(value) })}
        className="max-w-56"
      />
      <Select
        aria-label={t.filters.provider}
        value={provider}
        choices={filterChoices({ all: t.filters.allProviders, values: plainChoices(names.providers), chosen: provider })}
        onChoose={(value) => onChange({ provider: given(value) })}
        className="max-w-56"
      />
    </>
  );
}

function RareFilters({ search, onChange }: Omit<FiltersProps, 'names'>): JSX.Element {
  const { finish = '', error = '' } = search;
  return (
    <>
      <Select
        aria-label={t.filters.stream}
        value={search.stream ?? ''}
        choices={[
          { value: '', label: t.filters.anyStream },
          { value: 'yes', label: t.filters.yes },
          { value: 'no', label: t.filters.no },
        ]}
        onChoose={(stream) => onChange({ stream: stream === '' ? undefined : stream })}
      />
      <Select
        aria-label={t.filters.finish}
        value={finish}
        choices={filterChoices({ all: t.filters.anyFinish, values: plainChoices(FINISHES), chosen: finish })}
        onChoose={(value) => onChange({ finish: given(value) })}
      />
      <Select
        aria-label={t.filters.errorCode}
        value={error}
        choices={filterChoices({ all: t.filters.anyError, values: plainChoices(ERRORS), chosen: error })}
        onChoose={(value) => onChange({ error: given(value) })}
      />
      {(['cost', 'tokens', 'ttft', 'duration'] as const).map((name) => (
        <SearchInput
          key={name}
          label={t.filters[name]}
          value={search[name] ?? ''}
          onText={(text) => onChange({ [name]: given(readNumber(text)) })}
        />
      ))}
    </>
  );
}

function given(text: string): string | undefined {
  return text === '' ? undefined : text;
}

/** What is no number is not looked for. */
function readNumber(text: string): string {
  return /^\d+(?:\.\d{1,9})?$/u.test(text.trim()) ? text.trim() : '';
}
