import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Download, FileCheck } from 'lucide-react';
import type { JSX } from 'react';
import { isMinorStep } from '../../../back-button.ts';
import { formatCompact, formatCount } from '../../../numbers.ts';
import { compact, type ChangeOf } from '../../../search-params.ts';
import { adminModels as t } from '../../../strings/index.ts';
import { formatSpan } from '../../../time.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Breakable } from '../../../ui/breakable.tsx';
import { Button, buttonClass } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import type { ColumnMinWidth } from '../../../ui/column-class.ts';
import { DateTime } from '../../../ui/date-time.tsx';
import { FilterBar, SearchInput } from '../../../ui/filter-bar.tsx';
import { FilterSelect, plainChoices } from '../../../ui/filter-select.tsx';
import { Money } from '../../../ui/money.tsx';
import { PageHeader } from '../../../ui/page-header.tsx';
import { Table } from '../../../ui/table.tsx';
import type { Column } from '../../../ui/table.tsx';
import { useZoneInUrl } from '../../../zone.ts';
import { readSort, writeSort } from '../../models/select-models.ts';
import { CheckDrawer } from './check.tsx';
import { PricedModelDrawer } from './drawer.tsx';
import { priceListQuery, type PricedModel } from './queries.ts';
import type { AdminModelsSearch } from './search.ts';
import { selectPriced } from './select-priced.ts';

const route = getRouteApi('/app/admin/models');
const head = t.columns;

const COLUMNS: readonly Column<PricedModel>[] = [
  { id: 'model', header: head.model, isSortable: true, cell: (model) => <Name model={model} /> },
  price('input'),
  price('cachedInput', 'large'),
  price('cacheWrite', 'full'),
  price('output'),
  { id: 'source', header: head.source, minWidth: 'medium', cell: (model) => <Source model={model} /> },
  {
    id: 'version',
    header: head.version,
    minWidth: 'full',
    cell: ({ priceVersion, sinceMs }) => (
      <>
        <span className="figures block">{priceVersion ?? t.none}</span>
        {sinceMs !== null && (
          <span className="block text-xs whitespace-nowrap text-muted">
            {t.since} <DateTime atMs={sinceMs} precision="day" />
          </span>
        )}
      </>
    ),
  },
  {
    id: 'requests',
    header: head.requests,
    align: 'right',
    isSortable: true,
    minWidth: 'large',
    cell: ({ week }) => <span className="figures">{formatCount(week.requests)}</span>,
  },
  { id: 'charged', header: head.charged, align: 'right', isSortable: true, isWideOnly: true, cell: ({ week }) => <Money usd={week.usd} /> },
];

/** The full price list, with recent revenue. */
export function AdminModelsPage(): JSX.Element {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const zone = useZoneInUrl();
  const { data, error, refetch } = useQuery(priceListQuery(zone));
  const shown = data === undefined ? undefined : selectPriced(data.models, search);
  const sort = readSort(search.sort);
  const go = (change: ChangeOf<AdminModelsSearch>): void =>
    void navigate({ search: (old) => compact({ ...old, ...change }) as AdminModelsSearch, replace: isMinorStep(), resetScroll: false });
  const isFiltered = search.q !== undefined || search.provider !== undefined || search.list !== undefined;
  const clear = isFiltered ? () => go({ q: undefined, provider: undefined, list: undefined }) : undefined;
  const providers = [...new Set(data?.models.map(({ provider }) => provider))].sort();
  return (
    <>
      <PageHeader title={t.title} text={t.text} actions={<Actions onCheck={() => go({ check: 'open' })} />} />
      <FilterBar onClear={clear}>
        <SearchInput label={t.search} value={search.q ?? ''} onText={(q) => go({ q: q === '' ? undefined : q })} />
        <FilterSelect
          label={t.provider}
          all={t.allProviders}
          choices={plainChoices(providers)}
          value={search.provider}
          onChoose={(provider) => go({ provider })}
        />
        <FilterSelect
          label={t.list}
          all={t.whole}
          choices={[{ value: 'different', label: t.different }]}
          value={search.list}
          onChoose={(list) => go({ list })}
        />
      </FilterBar>
      <Card isFlush>
        <Table
          caption={t.title}
          columns={COLUMNS}
          rows={shown}
          rowId={({ id }) => id}
          error={error}
          onRetry={() => void refetch()}
          {...(sort !== undefined && { sort })}
          onSort={(next) => go({ sort: writeSort(next) })}
          empty={t.empty}
          onClearFilters={clear}
          onOpen={({ id }) => go({ id })}
          openId={search.id}
        />
      </Card>
      {data !== undefined && (
        <p className="mt-3 text-xs text-muted">
          {t.count(shown?.length ?? 0, data.models.length)} · {t.days(formatSpan(data.span, zone))}
        </p>
      )}
      <PricedModelDrawer models={data?.models} id={search.id} onClose={() => go({ id: undefined })} />
      <CheckDrawer isOpen={search.check === 'open'} onClose={() => go({ check: undefined })} />
    </>
  );
}

function Actions({ onCheck }: { readonly onCheck: () => void }): JSX.Element {
  return (
    <>
      <Button onClick={onCheck}>
        <FileCheck aria-hidden="true" />
        {t.check.title}
      </Button>
      <a href="/api/admin/models/export" download className={buttonClass({})}>
        <Download aria-hidden="true" />
        {t.export}
      </a>
    </>
  );
}

/** Returns a price column. Narrow tables show only the two most important prices; the details have the rest. */
function price(id: 'input' | 'cachedInput' | 'cacheWrite' | 'output', minWidth?: ColumnMinWidth): Column<PricedModel> {
  return {
    id,
    header: head[id],
    align: 'right',
    isSortable: true,
    minWidth,
    cell: (model) => <Money usd={model.price[id]} isExact {...(minWidth !== undefined && { className: 'text-muted' })} />,
  };
}

function Name({ model }: { readonly model: PricedModel }): JSX.Element {
  return (
    <div className="sm:min-w-44">
      <Link
        from="/admin/models"
        to="/admin/models"
        search={(old) => ({ ...old, id: model.id })}
        resetScroll={false}
        onClick={(event) => event.stopPropagation()}
        className="font-medium wrap-anywhere hover:underline"
      >
        <Breakable text={model.id} />
      </Link>
      {!model.id.startsWith(`${model.provider}/`) && <span className="block text-xs text-muted">{model.provider}</span>}
      <span className="flex flex-wrap gap-1">
        {model.state !== 'served' && <Badge tone="warn">{t.states[model.state]}</Badge>}
        {model.longPrice !== null && <Badge isPlain>{t.tiers(formatCompact(model.longPrice.overTokens))}</Badge>}
      </span>
    </div>
  );
}

function Source({ model }: { readonly model: PricedModel }): JSX.Element {
  return (
    <>
      <span className="block">{t.sources[model.source]}</span>
      {model.isDifferent && <Badge tone="accent">{t.changed}</Badge>}
    </>
  );
}
