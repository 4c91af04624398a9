import { getRouteApi } from '@tanstack/react-router';
import { useCallback } from 'react';
import type { JSX } from 'react';
import { formatUsd } from '../../money.ts';
import { formatCompact } from '../../numbers.ts';
import type { ListedModel } from '../../queries.ts';
import { models as t } from '../../strings/index.ts';
import { FilterBar, SearchInput } from '../../ui/filter-bar.tsx';
import { Select } from '../../ui/select.tsx';
import type { Choice } from '../../ui/select.tsx';
import { CAPABILITIES, CONTEXTS, PRICES, readModelsSearch } from './search.ts';
import type { ModelsSearch } from './search.ts';

const route = getRouteApi('/public/models');
const ANY = '';

interface FiltersProps {
  readonly models: readonly ListedModel[];
  readonly search: ModelsSearch;
  readonly onClear: (() => void) | undefined;
}

/** Narrows the list down. What is chosen stands in the address. */
export function Filters({ models, search, onClear }: FiltersProps): JSX.Element {
  const navigate = route.useNavigate();
  const set = useCallback(
    (change: Readonly<Record<string, string>>) =>
      void navigate({ search: (old) => readModelsSearch({ ...old, ...change }), replace: true, resetScroll: false }),
    [navigate],
  );
  const setText = useCallback((q: string) => set({ q }), [set]);
  const providers = [...new Set(models.map(({ provider }) => provider))].sort();
  return (
    <FilterBar onClear={onClear}>
      <SearchInput label={t.search} value={search.q ?? ''} onText={setText} />
      <Select
        aria-label={t.provider}
        value={search.provider ?? ANY}
        choices={choices(t.allProviders, providers)}
        onChoose={(provider) => set({ provider })}
      />
      <Select
        aria-label={t.can}
        value={search.can ?? ANY}
        choices={choices(t.anything, CAPABILITIES, (can) => t.capabilities[can])}
        onChoose={(can) => set({ can })}
      />
      <Select
        aria-label={t.context}
        value={search.context ?? ANY}
        choices={choices(t.anyContext, CONTEXTS, (tokens) => t.contextAtLeast(formatCompact(Number(tokens))))}
        onChoose={(tokens) => set({ context: tokens })}
      />
      <Select
        aria-label={t.price}
        value={search.price ?? ANY}
        choices={choices(t.anyPrice, PRICES, (usd) => t.priceAtMost(formatUsd(usd)))}
        onChoose={(usd) => set({ price: usd })}
      />
    </FilterBar>
  );
}

function choices<Value extends string>(
  any: string,
  values: readonly Value[],
  labelOf: (value: Value) => string = (value) => value,
): readonly Choice<Value | typeof ANY>[] {
  return [{ value: ANY, label: any }, ...values.map((value) => ({ value, label: labelOf(value) }))];
}
