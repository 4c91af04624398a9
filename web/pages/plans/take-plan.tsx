import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { JSX, ReactNode } from 'react';
import { api, ApiError, call } from '../../api.ts';
import { formatUsd, formatUsdExact, signOf, sumUsd } from '../../money.ts';
import { plans as t } from '../../strings/index.ts';
import { Button } from '../../ui/button.tsx';
import { DateTime } from '../../ui/date-time.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { LoadingOrError } from '../../ui/loading-or-error.tsx';
import { RadioCards } from '../../ui/radio-cards.tsx';
import { toast } from '../../ui/toast.tsx';
import { cardLabel } from '../billing/cards-card.tsx';
import { cardsQuery, refreshMoney } from '../billing/queries.ts';
import type { SavedCard } from '../billing/queries.ts';
import { TOP_UP_ID } from '../billing/top-up-link.tsx';
import { BALANCE, toPayment, UNNAMED_CARD } from './payment-method.ts';
import { focusMyPlan } from './my-plan.tsx';
import { methodLabel } from './plan-choices.tsx';
import { quoteQuery } from './queries.ts';
import type { Plan, PlansContent, Quote } from './queries.ts';

interface TakePlanProps {
  readonly plan: Plan;
  readonly content: PlansContent;
  readonly onClose: () => void;
}

/** Dialog to take a plan: the exact price now, and the payment method. */
export function TakePlan({ plan, content, onClose }: TakePlanProps): JSX.Element {
  const { data: quote, error, refetch } = useQuery(quoteQuery(plan.id));
  // Until the cards are listed, the button may move under the pointer.
  const { data: saved, isLoading: areCardsLoading } = useQuery({ ...cardsQuery, enabled: content.hasCards });
  const [method, setMethod] = useState<string>();
  // Chosen once: what is about to be confirmed must not change by itself.
  if (method === undefined && quote !== undefined && !areCardsLoading) setMethod(workingMethod(quote, content, saved?.cards ?? []));
  const take = useMutation({
    mutationFn: ({ atMs, id }: Quote) =>
      call(api.plans.take.$post({ json: { planId: plan.id, atMs, quoteId: id, ...toPayment(method ?? BALANCE) } })),
    onSuccess: async ({ address, done }) => {
      if (address !== null && !done) {
        location.assign(address);
        return;
      }
      toast('good', quote?.type === 'at_period_end' ? t.scheduled : t.taken);
      onClose();
      await refreshMoney();
      // The button that opened the dialog is gone.
      focusMyPlan();
    },
    // The new price is shown with the message and has to be confirmed, too.
    onError: (problem) => (problem instanceof ApiError && problem.code === 'quote_expired' ? refetch() : undefined),
  });
  const isPaid = quote !== undefined && signOf(quote.dueUsd) > 0;
  const isShort = isPaid && method === BALANCE && !canPay(content, quote.dueUsd);
  // Cards are charged whole cents, the balance exactly what is due.
  const amount = quote === undefined ? '' : formatUsdExact(method === BALANCE ? quote.dueUsd : quote.chargeUsd);
  return (
    <Dialog
      isOpen
      onClose={onClose}
      isBusy={take.isPending}
      title={t.dialog.title(plan.name)}
      actions={
        <Actions
          label={isPaid ? t.dialog.confirmPay(amount) : t.dialog.confirm}
          isBusy={take.isPending}
          onBack={onClose}
          onConfirm={quote === undefined || method === undefined || isShort ? undefined : () => take.mutate(quote)}
        />
      }
      error={take.error?.message}
    >
      <div className="flex flex-col gap-4">
        {quote === undefined && <LoadingOrError error={error} onRetry={() => void refetch()} className="h-24" />}
        {quote !== undefined && quote.type !== 'at_period_end' && <Terms quote={quote} due={amount} />}
        {quote?.type === 'at_period_end' && <LaterTerms {...{ quote, plan, content, cards: saved?.cards ?? [] }} />}
        {isPaid && method !== BALANCE && signOf(quote.debtUsd) > 0 && (
          <p className="text-sm text-muted">{t.dialog.debt(formatUsdExact(quote.debtUsd))}</p>
        )}
        {isPaid && <PaymentMethods quote={quote} content={content} value={method} onChoose={setMethod} />}
        {isShort && (
          <p className="text-sm">
            {t.dialog.short}{' '}
            <Link to="/billing" hash={TOP_UP_ID} className="link">
              {t.dialog.topUp}
            </Link>
          </p>
        )}
      </div>
    </Dialog>
  );
}

interface ActionsProps {
  readonly label: string;
  readonly isBusy: boolean;
  readonly onBack: () => void;
  /** Undefined while there is nothing to confirm. */
  readonly onConfirm: (() => void) | undefined;
}

function Actions({ label, isBusy, onBack, onConfirm }: ActionsProps): JSX.Element {
  return (
    <>
      <Button variant="quiet" disabled={isBusy} onClick={onBack}>
        {t.dialog.back}
      </Button>
      <Button variant="primary" disabled={onConfirm === undefined} isBusy={isBusy} onClick={onConfirm}>
        {label}
      </Button>
    </>
  );
}

/** Returns the payment method to begin with, one that can pay: the balance if it suffices, otherwise a card. */
function workingMethod(quote: Quote, content: PlansContent, cards: readonly SavedCard[]): string {
  if (!content.hasCards || canPay(content, quote.dueUsd)) return BALANCE;
  return cards[0]?.methodRef ?? UNNAMED_CARD;
}

function canPay({ payableUsd }: PlansContent, amountUsd: string): boolean {
  return signOf(sumUsd([payableUsd, `-${amountUsd}`])) >= 0;
}

function Terms({ quote, due }: { readonly quote: Quote; readonly due: string }): JSX.Element {
  return (
    <>
      {quote.type === 'upgrade' && <p className="text-sm text-muted">{t.dialog.upgrade}</p>}
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1.5 text-sm">
        <Term name={t.dialog.due}>{due}</Term>
        <Term name={t.dialog.credit}>{formatUsdExact(quote.creditUsd)}</Term>
        {quote.endsAtMs !== null && (
          <Term name={t.dialog.until}>
            <DateTime atMs={quote.endsAtMs} />
          </Term>
        )}
      </dl>
    </>
  );
}

interface LaterTermsProps {
  readonly quote: Quote;
  readonly plan: Plan;
  readonly content: PlansContent;
  readonly cards: readonly SavedCard[];
}

/** What a plan costs that starts with the next period, and whether it could be paid today. */
function LaterTerms({ quote, plan, content: { subscription, ...content }, cards }: LaterTermsProps): JSX.Element {
  const isFree = signOf(quote.priceUsd) === 0;
  return (
    <>
      <p className="text-sm">
        {t.dialog.later} (<DateTime atMs={quote.startsAtMs} />
        ).
      </p>
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1.5 text-sm">
        <Term name={t.dialog.priceThen}>{isFree ? t.free : `${formatUsdExact(quote.priceUsd)} ${t.intervals[plan.interval]}`}</Term>
        {!isFree && subscription !== null && <Term name={t.mine.paidWith}>{methodLabel(subscription, cards)}</Term>}
      </dl>
      {subscription?.payBy === 'balance' && !canPay({ subscription, ...content }, quote.priceUsd) && (
        <p className="text-sm">
          {t.dialog.shortThen(formatUsd(content.payableUsd), content.hasCards)}{' '}
          <Link to="/billing" hash={TOP_UP_ID} className="link">
            {t.dialog.topUp}
          </Link>
        </p>
      )}
    </>
  );
}

function Term({ name, children }: { readonly name: string; readonly children: ReactNode }): JSX.Element {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="figures text-right font-medium">{children}</dd>
    </>
  );
}

interface PaymentMethodsProps {
  readonly quote: Quote;
  readonly content: PlansContent;
  readonly value: string | undefined;
  readonly onChoose: (method: string) => void;
}

function PaymentMethods({ quote, content, value, onChoose }: PaymentMethodsProps): JSX.Element {
  const { data: saved, error, refetch } = useQuery({ ...cardsQuery, enabled: content.hasCards });
  const charge = formatUsd(quote.chargeUsd);
  const hasSaved = saved !== undefined && saved.cards.length > 0;
  const cards = [
    { value: BALANCE, label: t.dialog.balance, hint: t.dialog.balanceHint(formatUsd(content.payableUsd)) },
    ...(saved?.cards ?? []).map((card) => ({ value: card.methodRef, label: cardLabel(card), hint: t.dialog.saved(charge) })),
    ...(content.hasCards
      ? [{ value: UNNAMED_CARD, label: hasSaved ? t.dialog.anotherCard : t.dialog.card, hint: t.dialog.cardHint(charge) }]
      : []),
  ];
  return (
    <>
      <RadioCards legend={t.dialog.pay} value={value} cards={cards} onChoose={onChoose} className="sm:grid-cols-1" />
      {saved === undefined && error !== null && <ErrorState error={error} onRetry={() => void refetch()} />}
    </>
  );
}
