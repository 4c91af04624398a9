import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { JSX } from 'react';
import { modelsQuery } from '../../queries.ts';
import { models as t } from '../../strings/index.ts';
import { Card } from '../../ui/card.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Table } from '../../ui/table.tsx';
import { columns } from './columns.tsx';
import { Filters } from './filters.tsx';
import { ModelDrawer } from './model-drawer.tsx';
import { readSort, selectModels, writeSort } from './select-models.ts';

const route = getRouteApi('/public/models');

/** Price list: every model with its prices and recent performance. */
export function ModelsPage(): JSX.Element {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: list, error, refetch } = useQuery(modelsQuery);
  const shown = list === undefined ? undefined : selectModels(list.models, search);
  const sort = readSort(search.sort);
  const isFiltered = [search.q, search.provider, search.can, search.context, search.price].some((filter) => filter !== undefined);
  const clear = (): void => void navigate({ search: ({ sort: oldSort }) => (oldSort === undefined ? {} : { sort: oldSort }) });
  return (
    <>
      <PageHeader title={t.title} text={t.text} />
      <Filters models={list?.models ?? []} search={search} onClear={isFiltered ? clear : undefined} />
      <Card isFlush>
        <Table
          caption={t.title}
          columns={columns}
          rows={shown}
          rowId={(model) => model.id}
          error={error}
          onRetry={() => void refetch()}
          {...(sort !== undefined && { sort })}
          onSort={(next) => void navigate({ search: (old) => ({ ...old, sort: writeSort(next) }), replace: true, resetScroll: false })}
          empty={t.empty}
          onClearFilters={isFiltered ? clear : undefined}
          onOpen={(model) => void navigate({ search: (old) => ({ ...old, id: model.id }), resetScroll: false })}
          openId={search.id}
        />
      </Card>
      {shown !== undefined && (
        <p className="mt-3 text-xs text-muted">
          {t.count(shown.length, list?.models.length ?? 0)} <span className="max-lg:hidden">· {t.percentiles}</span>
        </p>
      )}
      <ModelDrawer models={list?.models} />
    </>
  );
}
