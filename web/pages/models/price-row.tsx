import type { JSX } from 'react';
import type { Prices } from '../../price.ts';
import { models as t } from '../../strings/index.ts';
import { Money } from '../../ui/money.tsx';

const KINDS = ['input', 'cachedInput', 'cacheWrite', 'output'] as const;

/** Prices of a model side by side. */
export function PriceRow({ prices }: { readonly prices: Prices }): JSX.Element {
  return (
    <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-md border border-line bg-line sm:grid-cols-4">
      {KINDS.map((kind) => (
        <div key={kind} className="bg-raised px-3 py-2">
          <dt className="text-xs text-muted">{t.columns[kind]}</dt>
          <dd>
            <Money usd={prices[kind]} isExact className="text-sm font-medium" />
          </dd>
        </div>
      ))}
    </dl>
  );
}
