import { Check } from 'lucide-react';
import type { JSX } from 'react';
import { formatUsd, signOf } from '../../money.ts';
import { formatCount } from '../../numbers.ts';
import { plans as t } from '../../strings/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import type { Plan, Subscription } from './queries.ts';

interface PlanCardProps {
  readonly plan: Plan;
  readonly subscription: Subscription | null;
  readonly onChoose: () => void;
}

/** A plan on offer, with its features. */
export function PlanCard({ plan, subscription, onChoose }: PlanCardProps): JSX.Element {
  const isMine = subscription?.plan.id === plan.id;
  const isNext = subscription?.nextPlan?.id === plan.id;
  const canChoose = isMine ? subscription.nextPlan !== null : !isNext;
  return (
    <Card className="flex w-full flex-col" title={plan.name} actions={<PlanBadge isMine={isMine} isNext={isNext} />}>
      <p className="text-muted">
        <span className="figures text-xl font-medium text-ink">{signOf(plan.priceUsd) === 0 ? t.free : formatUsd(plan.priceUsd)}</span>{' '}
        {signOf(plan.priceUsd) !== 0 && t.intervals[plan.interval]}
      </p>
      <ul className="mt-3 flex flex-col gap-1.5 text-sm">
        {featuresOf(plan).map((feature) => (
          <li key={feature} className="flex items-start gap-2">
            <Check aria-hidden="true" className="mt-0.5 size-4 shrink-0 text-good" />
            {feature}
          </li>
        ))}
      </ul>
      {plan.models !== null && <p className="mt-2 font-mono text-xs wrap-anywhere text-muted">{plan.models.join(', ')}</p>}
      {canChoose && (
        <Button
          isChange
          className="mt-4"
          variant={subscription === null ? 'primary' : 'secondary'}
          aria-label={`${subscription === null ? t.take : t.change}: ${plan.name}`}
          onClick={onChoose}
        >
          {subscription === null ? t.take : t.change}
        </Button>
      )}
    </Card>
  );
}

function PlanBadge({ isMine, isNext }: { readonly isMine: boolean; readonly isNext: boolean }): JSX.Element | null {
  if (isMine) return <Badge tone="good">{t.yours}</Badge>;
  return isNext ? <Badge tone="accent">{t.next}</Badge> : null;
}

function featuresOf(plan: Plan): string[] {
  return [
    signOf(plan.includedUsd) === 0 ? t.noCredit : t.included(formatUsd(plan.includedUsd), t.intervals[plan.interval]),
    ...(plan.requestsPerMinute === null ? [] : [t.requests(formatCount(plan.requestsPerMinute))]),
    ...(plan.tokensPerMinute === null ? [] : [t.tokens(formatCount(plan.tokensPerMinute))]),
    ...(plan.concurrent === null ? [] : [t.concurrent(formatCount(plan.concurrent))]),
    plan.models === null ? t.allModels : t.models(plan.models.length),
    plan.overflow === 'stop' ? t.stops : t.overflows,
  ];
}
