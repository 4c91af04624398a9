import { useState } from 'react';
import type { JSX } from 'react';
import { costOf, costOfMany } from '../../price.ts';
import type { Priced, Tokens } from '../../price.ts';
import { models as t } from '../../strings/index.ts';
import { Field } from '../../ui/field.tsx';
import { Money } from '../../ui/money.tsx';
import { NumberInput } from '../../ui/number-input.tsx';

const DAYS = 30;
const DIGITS_MAX = 10;

interface Amounts {
  readonly input: string;
  readonly cached: string;
  readonly output: string;
  readonly requests: string;
}

const FIELDS = [
  ['input', t.inputTokens],
  ['cached', t.cachedTokens],
  ['output', t.outputTokens],
  ['requests', t.requestsPerDay],
] as const;

/** Calculates the cost of a usage pattern, with the same arithmetic as the server. */
export function Calculator({ model }: { readonly model: Priced }): JSX.Element {
  const [amounts, setAmounts] = useState<Amounts>({ input: '1000', cached: '0', output: '500', requests: '1000' });
  const tokens = tokensOf(amounts);
  const requests = Number(amounts.requests);
  const isCachedTooHigh = Number(amounts.cached) > tokens.cachedInput;
  return (
    <div>
      <div className="grid grid-cols-2 gap-3 sm:grid-cols-4">
        {FIELDS.map(([name, label]) => (
          <Field key={name} label={label} error={name === 'cached' && isCachedTooHigh ? t.cachedMost : undefined}>
            {(wiring) => (
              <NumberInput
                {...wiring}
                value={amounts[name]}
                maxLength={DIGITS_MAX}
                onText={(text) => setAmounts((old) => ({ ...old, [name]: text.slice(0, DIGITS_MAX) }))}
              />
            )}
          </Field>
        ))}
      </div>
      <dl aria-live="polite" className="mt-4 divide-y divide-line border-y border-line text-sm">
        <Line label={t.perRequest} usd={costOf(model, tokens)} />
        <Line label={t.perDay} usd={costOfMany(model, tokens, requests)} />
        <Line label={t.perMonth} usd={costOfMany(model, tokens, requests * DAYS)} />
      </dl>
    </div>
  );
}

function Line({ label, usd }: { readonly label: string; readonly usd: string }): JSX.Element {
  return (
    <div className="flex justify-between gap-4 py-2">
      <dt className="text-muted">{label}</dt>
      <dd className="font-medium">
        <Money usd={usd} />
      </dd>
    </div>
  );
}

function tokensOf({ input, cached, output }: Amounts): Tokens {
  const cachedInput = Math.min(Number(cached), Number(input));
  return { input: Number(input) - cachedInput, cachedInput, cacheWrite: 0, output: Number(output) };
}
