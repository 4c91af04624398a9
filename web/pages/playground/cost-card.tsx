import type { JSX } from 'react';
import { formatUsdExact, sumUsd } from '../../money.ts';
import { formatCount } from '../../numbers.ts';
import { playground as t } from '../../strings/index.ts';
import { Card } from '../../ui/card.tsx';
import type { Turn } from './conversation.ts';
import { costOfTurn } from './turn-cost.ts';

/** Tokens and cost: estimated while the answer streams, exact at its end. */
export function CostCard({ turns }: { readonly turns: readonly Turn[] }): JSX.Element {
  const costs = turns.map((_, index) => costOfTurn(turns, index));
  const last = costs.at(-1);
  const sum = sumUsd(costs.map(({ usd }) => usd));
  const approximately = costs.every(({ isExact }) => isExact) ? '' : '≈ ';
  return (
    <Card title={t.cost}>
      <dl className="figures divide-y divide-line text-sm">
        <Line
          label={t.tokensInOut}
          value={last === undefined ? t.noTokens : `${formatCount(last.inputTokens)} / ${formatCount(last.outputTokens)}`}
        />
        <Line label={t.thisAnswer} value={last === undefined ? t.noTokens : `${last.isExact ? '' : '≈ '}${formatUsdExact(last.usd)}`} />
        <Line label={t.soFar} value={last === undefined ? t.noTokens : `${approximately}${formatUsdExact(sum)}`} />
      </dl>
      {last !== undefined && <p className="mt-2 text-xs text-muted">{last.isExact ? t.exact : t.estimated}</p>}
    </Card>
  );
}

function Line({ label, value }: { readonly label: string; readonly value: string }): JSX.Element {
  return (
    <div className="flex justify-between gap-4 py-2 first:pt-0">
      <dt className="font-sans text-muted">{label}</dt>
      <dd>{value}</dd>
    </div>
  );
}
