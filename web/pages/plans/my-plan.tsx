import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { JSX } from 'react';
import { api, call } from '../../api.ts';
import { formatUsd, ratioOf } from '../../money.ts';
import { queryClient } from '../../queries.ts';
import { plans as t } from '../../strings/index.ts';
import { Banner } from '../../ui/banner.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { DateTime } from '../../ui/date-time.tsx';
import { Meter } from '../../ui/meter.tsx';
import { toast } from '../../ui/toast.tsx';
import { refreshMoney } from '../billing/queries.ts';
import { PlanChoices } from './plan-choices.tsx';
import type { Subscription } from './queries.ts';

interface MyPlanProps {
  readonly subscription: Subscription;
  /** Whether this service accepts cards. */
  readonly hasCards: boolean;
}

const MY_PLAN_ID = 'my-plan';

/** Moves the focus to the account's plan, once it is shown. */
export function focusMyPlan(): void {
  requestAnimationFrame(() => document.getElementById(MY_PLAN_ID)?.focus());
}

/** The account's plan: remaining credit, next period, and buttons to cancel or resume it. */
export function MyPlan({ subscription, hasCards }: MyPlanProps): JSX.Element {
  const { plan, includedLeftUsd, includedGivenUsd, periodStartMs } = subscription;
  // A renewal while the page is open also changes the balance.
  useEffect(() => void queryClient.invalidateQueries({ queryKey: ['account'] }), [periodStartMs]);
  return (
    <Card id={MY_PLAN_ID} className="mb-6" title={t.mine.title} actions={<CancelOrResume subscription={subscription} />}>
      <div className="flex flex-col gap-4">
        <PastDue subscription={subscription} hasCards={hasCards} />
        <div className="grid gap-4 sm:grid-cols-2">
          <p className="text-lg font-semibold">{plan.name}</p>
          <Meter
            label={t.mine.included}
            part={1 - ratioOf(includedLeftUsd, includedGivenUsd)}
            text={t.mine.left(formatUsd(includedLeftUsd), formatUsd(includedGivenUsd))}
          />
        </div>
        <PlanChoices subscription={subscription} hasCards={hasCards} />
        <p className="text-sm">
          {t.mine.until} <DateTime atMs={subscription.periodEndMs} />. {describeNext(subscription)}
        </p>
      </div>
    </Card>
  );
}

function describeNext({ endsWithPeriod, nextPlan, periodsLeft }: Subscription): string {
  if (endsWithPeriod || periodsLeft === 1) return t.mine.ends;
  return nextPlan === null ? t.mine.renews : t.mine.becomes(nextPlan.name);
}

function PastDue({ subscription, hasCards }: MyPlanProps): JSX.Element | null {
  if (subscription.status !== 'past_due') return null;
  return (
    <Banner tone="bad" title={t.mine.pastDue}>
      <p>{t.mine.pastDueText(subscription.reason, hasCards)}</p>
      {subscription.graceUntilMs !== null && (
        <p>
          {t.mine.grace} <DateTime atMs={subscription.graceUntilMs} />.
        </p>
      )}
    </Banner>
  );
}

/** Cancels the plan after confirmation, or resumes it. */
function CancelOrResume({ subscription }: { readonly subscription: Subscription }): JSX.Element {
  const [isConfirming, setConfirming] = useState(false);
  const isPastDue = subscription.status === 'past_due';
  const cancel = async (): Promise<string> => {
    await call(api.plans.cancel.$post());
    await refreshMoney();
    focusMyPlan();
    return isPastDue ? t.mine.canceledNow : t.mine.canceled;
  };
  const resume = useMutation({
    mutationFn: () => call(api.plans.resume.$post()),
    onSuccess: async () => {
      toast('good', t.mine.resumed);
      await refreshMoney();
      focusMyPlan();
    },
    onError: (error) => toast('bad', error.message),
  });
  if (subscription.endsWithPeriod)
    return (
      <Button size="sm" isChange isBusy={resume.isPending} onClick={() => resume.mutate()}>
        {t.mine.resume}
      </Button>
    );
  return (
    <>
      <Button size="sm" variant="quiet" isChange onClick={() => setConfirming(true)}>
        {t.mine.cancel}
      </Button>
      <ConfirmDialog
        isOpen={isConfirming}
        onClose={() => setConfirming(false)}
        title={t.mine.cancelTitle}
        text={isPastDue ? t.mine.cancelNowText : t.mine.cancelText}
        action={t.mine.cancel}
        keep={t.mine.keep}
        onConfirm={cancel}
      />
    </>
  );
}
