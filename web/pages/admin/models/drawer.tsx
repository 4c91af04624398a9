import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { formatCount } from '../../../numbers.ts';
import type { Priced } from '../../../price.ts';
import { adminModels as t } from '../../../strings/index.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Copyable } from '../../../ui/copyable.tsx';
import { DateTime } from '../../../ui/date-time.tsx';
import { Drawer } from '../../../ui/drawer.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { DrawerSection } from '../../../ui/drawer-section.tsx';
import { LoadingOrError } from '../../../ui/loading-or-error.tsx';
import { PriceRow } from '../../models/price-row.tsx';
import { Preview } from './preview.tsx';
import { modelQuery, type PricedModel } from './queries.ts';

interface DrawerProps {
  readonly models: readonly PricedModel[] | undefined;
  readonly id: string | undefined;
  readonly onClose: () => void;
}

/** One model: its price history, and a preview of other prices. */
export function PricedModelDrawer({ models, id, onClose }: DrawerProps): JSX.Element {
  const model = models?.find((each) => each.id === id);
  return (
    <Drawer
      isOpen={id !== undefined && models !== undefined}
      onClose={onClose}
      title={model?.name ?? id ?? ''}
      text={model === undefined ? undefined : <Copyable text={model.id} what={t.modelId} />}
    >
      {model === undefined ? (
        <EmptyState title={t.unknown} />
      ) : (
        <div className="flex flex-col gap-7">
          <DrawerSection title={t.preview.title}>
            <Preview key={model.id} model={model} />
          </DrawerSection>
          <History model={model} />
        </div>
      )}
    </Drawer>
  );
}

function History({ model }: { readonly model: PricedModel }): JSX.Element {
  const { data, error, refetch } = useQuery(modelQuery(model.id));
  if (data === undefined) return <LoadingOrError error={error} onRetry={() => void refetch()} className="h-40" />;
  return (
    <>
      <DrawerSection title={t.versions} hint={t.versionsHint}>
        <ul className="flex flex-col gap-4">
          {data.versions.map(({ version, sinceMs, ...priced }) => (
            <li key={version}>
              <p className="mb-1 flex flex-wrap items-center gap-2 text-xs text-muted">
                {t.versionOf(version)}, {t.since} <DateTime atMs={sinceMs} precision="second" />
                {version === model.priceVersion && <Badge tone="good">{t.inForce}</Badge>}
              </p>
              <Prices priced={priced} />
            </li>
          ))}
        </ul>
      </DrawerSection>
      {data.shipped !== null && (
        <DrawerSection title={t.shippedPrice}>
          <Prices priced={data.shipped} />
        </DrawerSection>
      )}
      <DrawerSection title={t.routes}>
        <ol className="text-sm">
          {data.routes.map(({ provider, name, weight }) => (
            <li key={`${provider} ${name}`} className="wrap-anywhere">
              {provider} <code className="font-mono text-xs text-muted">{name}</code> {weight !== null && <Badge isPlain>{weight}</Badge>}
            </li>
          ))}
        </ol>
      </DrawerSection>
    </>
  );
}

function Prices({ priced: { price, longPrice } }: { readonly priced: Priced }): JSX.Element {
  return (
    <>
      <PriceRow prices={price} />
      {longPrice !== null && (
        <>
          <p className="mt-2 mb-1 text-xs text-muted">{t.longPrices(formatCount(longPrice.overTokens))}</p>
          <PriceRow prices={longPrice} />
        </>
      )}
    </>
  );
}
