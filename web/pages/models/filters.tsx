import { getRouteApi } from '@tanstack/react-router';
import type { JSX } from 'react';
import { isMinorStep } from '../../back-button.ts';
import { formatUsd } from '../../money.ts';
import { formatCompact } from '../../numbers.ts';
import type { ListedModel } from '../../queries.ts';
import { models as t } from '../../strings/index.ts';
import { FilterBar, SearchInput } from '../../ui/filter-bar.tsx';
import { FilterSelect, labelled, plainChoices } from '../../ui/filter-select.tsx';
import { CAPABILITIES, CONTEXTS, PRICES, readModelsSearch } from './search.ts';
import type { ModelsSearch } from './search.ts';

const route = getRouteApi('/public/models');

interface FiltersProps {
  readonly models: readonly ListedModel[];
  readonly search: ModelsSearch;
  readonly onClear: (() => void) | undefined;
}

/** Filters of the price list, kept in the URL. */
export function Filters({ models, search, onClear }: FiltersProps): JSX.Element {
  const navigate = route.useNavigate();
  const set = (change: Readonly<Record<string, string | undefined>>): void =>
    void navigate({ search: (old) => readModelsSearch({ ...old, ...change }), replace: isMinorStep(), resetScroll: false });
  const providers = [...new Set(models.map(({ provider }) => provider))].sort();
  return (
    <FilterBar onClear={onClear}>
      <SearchInput label={t.search} value={search.q ?? ''} onText={(q) => set({ q })} />
      <FilterSelect
        label={t.provider}
        all={t.allProviders}
        choices={plainChoices(providers)}
        value={search.provider}
        onChoose={(provider) => set({ provider })}
      />
      <FilterSelect
        label={t.can}
        all={t.anything}
        choices={labelled(CAPABILITIES, t.capabilities)}
        value={search.can}
        onChoose={(can) => set({ can })}
      />
      <FilterSelect
        label={t.context}
        all={t.anyContext}
        choices={CONTEXTS.map((value) => ({ value, label: t.contextAtLeast(formatCompact(Number(value))) }))}
        value={search.context}
        onChoose={(context) => set({ context })}
      />
      <FilterSelect
        label={t.price}
        all={t.anyPrice}
        choices={PRICES.map((value) => ({ value, label: t.priceAtMost(formatUsd(value)) }))}
        value={search.price}
        onChoose={(price) => set({ price })}
      />
    </FilterBar>
  );
}
