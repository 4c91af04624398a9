import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { ApiError } from './api.ts';
import { keyLabel, namesQuery, type Names } from './names.ts';
import { filters as t, kit } from './strings/index.ts';
import { FilterSelect, plainChoices } from './ui/filter-select.tsx';

/** Filters of requests by name. */
export interface NameFilter {
  readonly model?: string | undefined;
  readonly key?: string | undefined;
  readonly provider?: string | undefined;
  readonly tag?: string | undefined;
}

interface NameFiltersProps {
  readonly search: NameFilter;
  readonly names: Names;
  readonly onChange: (change: NameFilter) => void;
}

/** Says that the lists of the filters could not be read; without it they would look as if the account had used nothing. */
export function NamesFault(): JSX.Element | null {
  return <ListsFault {...useQuery(namesQuery)} />;
}

interface ListsFaultProps {
  readonly data: unknown;
  readonly error: Error | null;
  readonly isFetching: boolean;
  readonly refetch: () => unknown;
}

/** The same for any query of lists. The page works without them. */
export function ListsFault({ data, error, isFetching, refetch }: ListsFaultProps): JSX.Element | null {
  if (data !== undefined || error === null) return null;
  return (
    <p role="status" className="-mt-2 mb-4 text-sm text-warn">
      {t.unread(error instanceof ApiError ? error.message : kit.notShown)}{' '}
      <button
        type="button"
        aria-disabled={isFetching}
        className="font-medium underline underline-offset-2 aria-disabled:opacity-55"
        onClick={() => !isFetching && refetch()}
      >
        {kit.tryAgain}
      </button>
    </p>
  );
}

/** Filters by model, key, provider and tag. The tag filter appears only if a key has a tag. */
export function NameFilters({ search, names, onChange }: NameFiltersProps): JSX.Element {
  const keys = names.keys.map(({ id }) => ({ value: id, label: keyLabel(id, names) }));
  const rows = [
    { name: 'model', label: t.model, all: t.allModels, choices: plainChoices(names.models) },
    { name: 'key', label: t.key, all: t.allKeys, choices: keys },
    { name: 'provider', label: t.provider, all: t.allProviders, choices: plainChoices(names.providers) },
    { name: 'tag', label: t.tag, all: t.allTags, choices: plainChoices(names.tags) },
  ] as const;
  const shown = rows.filter(({ name }) => name !== 'tag' || names.tags.length > 0 || search.tag !== undefined);
  return (
    <>
      {shown.map(({ name, ...row }) => (
        <FilterSelect key={name} {...row} value={search[name]} onChoose={(value) => onChange({ [name]: value })} />
      ))}
    </>
  );
}
