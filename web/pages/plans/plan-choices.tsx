import { useMutation, useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { api, call } from '../../api.ts';
import { plans as t } from '../../strings/index.ts';
import { Field } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { toast } from '../../ui/toast.tsx';
import { isReadOnly } from '../../viewed.ts';
import { cardLabel } from '../billing/cards-card.tsx';
import { cardsQuery, refreshMoney } from '../billing/queries.ts';
import type { SavedCard } from '../billing/queries.ts';
import { BALANCE, toPayment, UNNAMED_CARD } from './payment-method.ts';
import type { Subscription } from './queries.ts';

interface PlanChoicesProps {
  readonly subscription: Subscription;
  readonly hasCards: boolean;
}

/** Settings of a subscription: how it is paid, and which credit is used first. */
export function PlanChoices({ subscription, hasCards }: PlanChoicesProps): JSX.Element {
  return (
    <fieldset disabled={isReadOnly} className="grid min-w-0 gap-4 sm:grid-cols-2">
      {subscription.payBy === 'nobody' ? (
        <p className="text-sm text-muted">{t.mine.unpaid}</p>
      ) : (
        <PaymentMethodField {...{ subscription, hasCards }} />
      )}
      {subscription.plan.overflow === 'stop' ? (
        <p className="text-sm text-muted">{t.mine.stops}</p>
      ) : (
        <UseFirstField subscription={subscription} />
      )}
    </fieldset>
  );
}

function PaymentMethodField({ subscription, hasCards }: PlanChoicesProps): JSX.Element {
  const { data: saved, error } = useQuery({ ...cardsQuery, enabled: hasCards });
  const cards = saved?.cards ?? [];
  const change = useMutation({
    mutationFn: (method: string) => call(api.plans.payment.$put({ json: toPayment(method) })),
    onSuccess: async () => {
      toast('good', t.mine.paymentChanged);
      await refreshMoney();
    },
    onError: (problem) => toast('bad', problem.message),
  });
  if (hasCards && saved === undefined && error === null) return <Skeleton className="h-16" />;
  return (
    <Field label={t.mine.paidWith} hint={hasCards && saved?.cards.length === 0 ? t.mine.noCard : undefined} error={error?.message}>
      {(wiring) => (
        <Select
          {...wiring}
          className="w-full"
          disabled={change.isPending}
          value={change.variables !== undefined && change.isPending ? change.variables : selectedMethod(subscription, cards)}
          choices={methodChoices(subscription, cards)}
          onChoose={(method) => change.mutate(method)}
        />
      )}
    </Field>
  );
}

/** Returns the selected payment method. A card that no longer exists counts as the card saved last, as it does for renewals. */
function selectedMethod({ payBy, methodRef }: Subscription, cards: readonly SavedCard[]): string {
  if (payBy !== 'card') return BALANCE;
  return cards.some((card) => card.methodRef === methodRef) && methodRef !== null ? methodRef : UNNAMED_CARD;
}

/** Returns the name of the payment method of a subscription. */
export function methodLabel(subscription: Subscription, cards: readonly SavedCard[]): string | undefined {
  return methodChoices(subscription, cards).find(({ value }) => value === selectedMethod(subscription, cards))?.label;
}

function methodChoices(subscription: Subscription, cards: readonly SavedCard[]): { value: string; label: string }[] {
  return [
    { value: BALANCE, label: t.mine.fromBalance },
    ...cards.map((card) => ({ value: card.methodRef, label: cardLabel(card) })),
    ...(selectedMethod(subscription, cards) === UNNAMED_CARD ? [{ value: UNNAMED_CARD, label: t.mine.lastCard }] : []),
  ];
}

const ORDERS = [
  { value: 'plan', label: t.mine.planFirst },
  { value: 'balance', label: t.mine.balanceFirst },
] as const;

function UseFirstField({ subscription }: { readonly subscription: Subscription }): JSX.Element {
  const change = useMutation({
    mutationFn: (useFirst: Subscription['useFirst']) => call(api.plans.use.$put({ json: { useFirst } })),
    onSuccess: async () => {
      toast('good', t.mine.orderChanged);
      await refreshMoney();
    },
    onError: (problem) => toast('bad', problem.message),
  });
  return (
    <Field label={t.mine.usedFirst} hint={t.mine.usedFirstHint}>
      {(wiring) => (
        <Select
          {...wiring}
          className="w-full"
          disabled={change.isPending}
          value={change.variables !== undefined && change.isPending ? change.variables : subscription.useFirst}
          choices={ORDERS}
          onChoose={(useFirst) => change.mutate(useFirst)}
        />
      )}
    </Field>
  );
}
