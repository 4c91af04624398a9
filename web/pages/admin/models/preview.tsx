import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { JSX } from 'react';
import { formatUsd } from '../../../money.ts';
import { formatCompact, formatCount } from '../../../numbers.ts';
import { adminModels as t } from '../../../strings/index.ts';
import { CodeBlock } from '../../../ui/code-block.tsx';
import { Field } from '../../../ui/field.tsx';
import { fieldError, Form } from '../../../ui/form.tsx';
import { MoneyInput } from '../../../ui/money-input.tsx';
import { Stat } from '../../../ui/stat.tsx';
import { useZone } from '../../../zone.ts';
import { previewQuery, type Previewed, type PricedModel, type TypedPrices } from './queries.ts';

const BASE = [
  ['input', t.columns.input],
  ['cachedInput', t.columns.cachedInput],
  ['cacheWrite', t.columns.cacheWrite],
  ['output', t.columns.output],
] as const;
const LONG = [
  ['longInput', t.columns.input],
  ['longCachedInput', t.columns.cachedInput],
  ['longCacheWrite', t.columns.cacheWrite],
  ['longOutput', t.columns.output],
] as const;
type Name = (typeof BASE)[number][0] | (typeof LONG)[number][0];

/** Calculates what the requests of the last days would have cost at other prices, and shows the YAML to apply them. */
export function Preview({ model }: { readonly model: PricedModel }): JSX.Element {
  const [typed, setTyped] = useState<TypedPrices>(() => pricesOf(model));
  const [submitted, setSubmitted] = useState(typed);
  const { data, error, isFetching } = useQuery(previewQuery(model.id, useZone(), submitted));
  const { longPrice } = model;
  const longLabel = longPrice === null ? '' : t.preview.long(formatCompact(longPrice.overTokens));
  const field = ([name, label]: readonly [Name, string], suffix = ''): JSX.Element => (
    <Field key={name} label={suffix === '' ? label : `${label} ${suffix}`} error={fieldError(error, name)}>
      {(wiring) => <MoneyInput {...wiring} value={typed[name] ?? ''} onText={(text) => setTyped((old) => ({ ...old, [name]: text }))} />}
    </Field>
  );
  return (
    <div className="flex flex-col gap-4">
      <Form
        action={t.preview.action}
        isBusy={isFetching}
        error={error}
        fields={[...BASE, ...LONG].map(([name]) => name)}
        onSubmit={() => setSubmitted(typed)}
      >
        <div className="grid grid-cols-2 gap-3 sm:grid-cols-4">
          {BASE.map((each) => field(each))}
          {longPrice !== null && LONG.map((each) => field(each, longLabel))}
        </div>
      </Form>
      {data !== undefined && error === null && <Result data={data} />}
    </div>
  );
}

function Result({ data }: { readonly data: Previewed }): JSX.Element {
  const isRange = data.would.lowUsd !== data.would.highUsd || data.now.lowUsd !== data.now.highUsd;
  return (
    <>
      <div aria-live="polite" className="grid grid-cols-1 gap-4 sm:grid-cols-3">
        <Stat label={t.preview.charged} value={formatUsd(data.week.usd)} />
        <Stat label={t.preview.now} value={rangeOf(data.now)} />
        <Stat label={t.preview.would} value={rangeOf(data.would)} />
      </div>
      <p className="text-xs text-muted">
        {t.preview.hint(formatCount(data.week.requests))} {isRange && t.preview.range}
      </p>
      <p className="text-sm">{t.preview.yaml}</p>
      <CodeBlock snippets={[{ id: 'yaml', label: t.preview.file, code: data.yaml }]} />
    </>
  );
}

function rangeOf({ lowUsd, highUsd }: Previewed['now']): string {
  return lowUsd === highUsd ? formatUsd(lowUsd) : t.preview.between(formatUsd(lowUsd), formatUsd(highUsd));
}

function pricesOf({ price, longPrice }: PricedModel): TypedPrices {
  if (longPrice === null) return price;
  const { input, cachedInput, cacheWrite, output } = longPrice;
  return { ...price, longInput: input, longCachedInput: cachedInput, longCacheWrite: cacheWrite, longOutput: output };
}
