import { getRouteApi } from '@tanstack/react-router';
import type { JSX } from 'react';
import { formatCompact, formatCount, formatMs, formatPercent } from '../../numbers.ts';
import type { ListedModel } from '../../queries.ts';
import { snippetsFor } from '../../snippets.ts';
import { models as t } from '../../strings/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Copyable } from '../../ui/copyable.tsx';
import { Drawer } from '../../ui/drawer.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { LinkButton } from '../../ui/link-button.tsx';
import { DrawerSection } from '../../ui/drawer-section.tsx';
import { Stat } from '../../ui/stat.tsx';
import { Calculator } from './calculator.tsx';
import { PriceRow } from './price-row.tsx';
import { readModelsSearch } from './search.ts';
import { capabilitiesOf } from './select-models.ts';

const route = getRouteApi('/public/models');

/** Details of one model. Its URL is permanent: `/models?id=…`. */
export function ModelDrawer({ models }: { readonly models: readonly ListedModel[] | undefined }): JSX.Element {
  const { id } = route.useSearch();
  const navigate = route.useNavigate();
  const model = models?.find((each) => each.id === id);
  const close = (): void =>
    void navigate({ search: (old) => readModelsSearch({ ...old, id: undefined, snippet: undefined }), resetScroll: false });
  return (
    <Drawer
      isOpen={id !== undefined && models !== undefined}
      onClose={close}
      title={model?.name ?? id ?? ''}
      text={model === undefined ? undefined : <Copyable text={model.id} what={t.modelId} />}
    >
      {model === undefined ? <EmptyState title={t.unknown} /> : <Details model={model} />}
    </Drawer>
  );
}

function Details({ model }: { readonly model: ListedModel }): JSX.Element {
  const { snippet } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <div className="flex flex-col gap-7">
      <div className="flex flex-wrap gap-1.5">
        {capabilitiesOf(model).map((capability) => (
          <Badge key={capability} isPlain>
            {t.capabilities[capability]}
          </Badge>
        ))}
      </div>
      <div className="grid grid-cols-2 gap-4 sm:grid-cols-3">
        <Stat label={t.columns.context} value={formatCompact(model.contextLength)} />
        <Stat label={t.columns.maxOutput} value={formatCompact(model.maxOutputTokens)} />
      </div>
      <DrawerSection title={t.prices}>
        <PriceRow prices={model.price} />
        {model.longPrice !== null && (
          <>
            <p className="mt-3 mb-1 text-xs text-muted">{t.longPrices(formatCount(model.longPrice.overTokens))}</p>
            <PriceRow prices={model.longPrice} />
          </>
        )}
      </DrawerSection>
      <DrawerSection title={t.health} hint={t.healthHint}>
        <Health model={model} />
      </DrawerSection>
      <DrawerSection title={t.calculator}>
        <Calculator model={model} />
      </DrawerSection>
      <DrawerSection title={t.call}>
        <CodeBlock
          snippets={snippetsFor({ model: model.id, prompt: t.prompt })}
          chosenId={snippet}
          onChoose={(chosen) => void navigate({ search: (old) => ({ ...old, snippet: chosen }), replace: true, resetScroll: false })}
        />
        <LinkButton to="/playground" search={{ model: model.id }} className="mt-3">
          {t.tryIt}
        </LinkButton>
      </DrawerSection>
    </div>
  );
}

const NOT_MEASURED = { firstTokenP50Ms: null, firstTokenP95Ms: null } as const;

function Health({ model }: { readonly model: ListedModel }): JSX.Element {
  const { measured } = model;
  const { firstTokenP50Ms: p50, firstTokenP95Ms: p95 } = measured ?? NOT_MEASURED;
  return (
    <div className="grid grid-cols-2 gap-4 sm:grid-cols-3">
      <Stat label={t.columns.success} value={measured === null ? null : formatPercent(measured.successPart)} />
      <Stat
        label={t.columns.firstToken}
        value={p50 === null ? null : formatMs(p50)}
        hint={p95 === null ? undefined : t.p95(formatMs(p95))}
      />
      <Stat label={t.columns.requests} value={measured === null ? null : formatCount(measured.requests)} />
    </div>
  );
}
