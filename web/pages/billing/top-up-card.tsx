import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { JSX } from 'react';
import { ApiError, api, call } from '../../api.ts';
import { formatUsd, formatUsdExact } from '../../money.ts';
import { accountQuery } from '../../queries.ts';
import { billing as t } from '../../strings/index.ts';
import { Banner } from '../../ui/banner.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { Copyable } from '../../ui/copyable.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Field } from '../../ui/field.tsx';
import { MoneyInput } from '../../ui/money-input.tsx';
import { RadioCards } from '../../ui/radio-cards.tsx';
import { Segmented } from '../../ui/segmented.tsx';
import { LoadingOrError } from '../../ui/loading-or-error.tsx';
import { billingQuery, canPay, refreshMoney } from './queries.ts';
import type { Billing, Payment } from './queries.ts';

/** Top-up form: amount, payment method and exact charge. Continues on the page of the payment service. */
export function TopUpCard(): JSX.Element {
  const { data, error, refetch } = useQuery(billingQuery);
  if (data === undefined)
    return (
      <Card title={t.topUp.title}>
        <LoadingOrError error={error} onRetry={() => void refetch()} className="h-40" />
      </Card>
    );
  return (
    <Card title={t.topUp.title} isFlush={!canPay(data)}>
      {canPay(data) ? <TopUpForm billing={data} /> : <NoPayments />}
    </Card>
  );
}

function NoPayments(): JSX.Element {
  const { data } = useQuery(accountQuery);
  const command = t.topUp.creditCommand(data?.email ?? '');
  return (
    <EmptyState
      {...t.topUp.none}
      action={<CodeBlock className="text-left" snippets={[{ id: 'command', label: t.topUp.commandName, code: command }]} />}
    />
  );
}

function TopUpForm({ billing }: { readonly billing: Billing }): JSX.Element {
  const [amount, setAmount] = useState(billing.presetsUsd[0] ?? billing.minimumUsd);
  const [provider, setProvider] = useState<'stripe' | 'manual'>(billing.hasCards ? 'stripe' : 'manual');
  const [savesCard, setSavesCard] = useState(false);
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () => call(api.billing['top-ups'].$post({ json: { amountUsd: amount, provider, savesCard } })),
    onSuccess: async (payment) => {
      if (payment.address === null) await refreshMoney();
      else location.assign(payment.address);
    },
  });
  const isValidAmount = /^\d+(?:\.\d{1,2})?$/u.test(amount);
  const shown = isValidAmount ? formatUsdExact(amount) : '…';
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        mutate();
      }}
    >
      {billing.presetsUsd.length > 0 && (
        <Segmented
          label={t.topUp.amounts}
          value={amount}
          choices={billing.presetsUsd.map((value) => ({ value, label: formatUsd(value) }))}
          onChoose={setAmount}
          className="self-start"
        />
      )}
      <Field
        label={t.topUp.custom}
        hint={t.topUp.range(formatUsd(billing.minimumUsd), formatUsd(billing.maximumUsd))}
        error={error instanceof ApiError ? error.message : undefined}
      >
        {(wiring) => <MoneyInput {...wiring} range={[billing.minimumUsd, billing.maximumUsd]} value={amount} onText={setAmount} required />}
      </Field>
      {billing.hasCards && billing.bankTransfer !== null && <PaymentMethods value={provider} onChoose={setProvider} />}
      {provider === 'stripe' && <Checkbox label={t.topUp.saveCard} isChecked={savesCard} onCheck={setSavesCard} />}
      {billing.bonuses.map(({ percent, maxUsd, minimumUsd }) => (
        <Banner key={`${percent} ${maxUsd} ${minimumUsd}`} tone="good" title={t.bonus(percent, formatUsd(maxUsd), formatUsd(minimumUsd))} />
      ))}
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="text-sm">
          {t.topUp.charge} <strong className="figures">{shown}</strong>
          <span className="block text-xs text-muted">{t.topUp.chargeHint}</span>
        </p>
        <Button variant="primary" type="submit" isBusy={isPending} disabled={!isValidAmount}>
          {provider === 'stripe' ? t.topUp.pay(shown) : t.topUp.order(shown)}
        </Button>
      </div>
      {data !== undefined && <NextStep payment={data} bankTransfer={billing.bankTransfer} />}
    </form>
  );
}

function PaymentMethods({
  value,
  onChoose,
}: {
  readonly value: 'stripe' | 'manual';
  readonly onChoose: (method: 'stripe' | 'manual') => void;
}): JSX.Element {
  const cards = [
    { value: 'stripe' as const, label: t.topUp.card, hint: t.topUp.cardHint },
    { value: 'manual' as const, label: t.topUp.transfer, hint: t.topUp.transferHint },
  ];
  return <RadioCards legend={t.topUp.ways} value={value} cards={cards} onChoose={onChoose} />;
}

/** Next step of a payment that does not continue on another page. */
function NextStep({ payment, bankTransfer }: { readonly payment: Payment; readonly bankTransfer: string | null }): JSX.Element | null {
  if (payment.status === 'unknown') return <Banner tone="warn" title={t.topUp.unknown} />;
  if (payment.reference === null) return null;
  return (
    <Banner tone="accent" title={t.topUp.referenceTitle}>
      <Copyable text={payment.reference} what={t.topUp.reference} />
      <p className="mt-1 whitespace-pre-line">{bankTransfer}</p>
    </Banner>
  );
}
