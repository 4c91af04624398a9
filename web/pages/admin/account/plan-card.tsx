import type { JSX } from 'react';
import { formatUsd } from '../../../money.ts';
import { adminAccount } from '../../../strings/index.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Card } from '../../../ui/card.tsx';
import { DateTime } from '../../../ui/date-time.tsx';
import type { AccountContent } from './queries.ts';

const t = adminAccount.plan;

/** The account's plan and when it renews or ends. */
export function PlanCard({ content: { plan } }: { readonly content: AccountContent }): JSX.Element {
  return (
    <Card title={t.title}>
      {plan === null ? (
        <p className="text-sm text-muted">{t.none}</p>
      ) : (
        <div className="text-sm">
          <p className="flex flex-wrap items-center gap-2 font-medium">
            {plan.name} {plan.status === 'past_due' && <Badge tone="bad">{t.pastDue}</Badge>}
          </p>
          <p>{t.left(formatUsd(plan.includedLeftUsd), formatUsd(plan.includedUsd))}</p>
          <p className="text-muted">
            {t.paysBy[plan.paysBy]}, {plan.endsWithPeriod ? t.ends : t.renews} <DateTime atMs={plan.periodEndMs} />
          </p>
          {plan.reason !== '' && <p className="text-muted">{plan.reason}</p>}
        </div>
      )}
    </Card>
  );
}
