import type { JSX } from 'react';
import { keyLabel, type Names } from './names.ts';
import { filters as t } from './strings/index.ts';
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
