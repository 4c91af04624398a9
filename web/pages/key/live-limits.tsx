import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { formatCount } from '../../numbers.ts';
import { key as t } from '../../strings/index.ts';
import { Card } from '../../ui/card.tsx';
import { LoadingOrError } from '../../ui/loading-or-error.tsx';
import { Meter } from '../../ui/meter.tsx';
import { BudgetMeter } from '../keys/budget-meter.tsx';
import { keyLiveQuery } from '../keys/queries.ts';

/** Current use of each of the key's limits, updated live. */
export function LiveLimits({ id }: { readonly id: string }): JSX.Element {
  const { data, error, refetch } = useQuery(keyLiveQuery(id));
  return (
    <Card title={t.limits.title} hint={t.limits.hint}>
      {data === undefined && <LoadingOrError error={error} onRetry={() => void refetch()} className="h-32" />}
      {data !== undefined && (
        <div className="flex flex-col gap-4">
          {data.budgets.length === 0 && <p className="text-sm text-muted">{t.limits.noMoney}</p>}
          {data.budgets.map((budget) => (
            <BudgetMeter key={budget.period} budget={budget} />
          ))}
          <div className="grid gap-4 sm:max-lg:grid-cols-3">
            <Rate
              label={t.limits.requests}
              used={data.use.limits.requestsPerMinute - data.use.remainingRequests}
              limit={data.use.limits.requestsPerMinute}
            />
            <Rate
              label={t.limits.tokens}
              used={data.use.limits.tokensPerMinute - data.use.remainingTokens}
              limit={data.use.limits.tokensPerMinute}
            />
            <Rate label={t.limits.open} used={data.use.open} limit={data.use.limits.concurrent} />
          </div>
        </div>
      )}
    </Card>
  );
}

function Rate({ label, used, limit }: { readonly label: string; readonly used: number; readonly limit: number }): JSX.Element {
  return <Meter label={label} part={used / limit} text={t.limits.of(formatCount(used), formatCount(limit))} />;
}
