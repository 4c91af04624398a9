import { useMutation, useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { api, call } from '../../api.ts';
import { formatUsd, signOf } from '../../money.ts';
import { billing as t } from '../../strings/index.ts';
import { formatDateTime } from '../../time.ts';
import { Badge } from '../../ui/badge.tsx';
import type { Tone } from '../../ui/badge.tsx';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Copyable } from '../../ui/copyable.tsx';
import { DateTime } from '../../ui/date-time.tsx';
import { Money } from '../../ui/money.tsx';
import { Table } from '../../ui/table.tsx';
import type { Column } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.tsx';
import { useZone } from '../../zone.ts';
import { billingQuery, paymentsQuery } from './queries.ts';
import type { Payment } from './queries.ts';
import { TopUpLink } from './top-up-link.tsx';

export const PAYMENT_TONES: Readonly<Record<Payment['status'], Tone>> = {
  created: 'neutral',
  open: 'accent',
  unknown: 'warn',
  paid: 'good',
  failed: 'bad',
  expired: 'neutral',
};

const COLUMNS: readonly Column<Payment>[] = [
  { id: 'time', header: t.payments.time, isWideOnly: true, cell: ({ createdAtMs }) => <DateTime atMs={createdAtMs} mayBreak /> },
  { id: 'what', header: t.payments.what, isWideOnly: true, cell: ({ purpose }) => t.payments.purposes[purpose] },
  {
    id: 'amount',
    header: <span className="max-sm:block max-sm:text-left">{t.payments.amount}</span>,
    align: 'right',
    className: 'max-sm:text-left',
    cell: (payment) => (
      <>
        <PaidAmount payment={payment} />
        <span className="block text-xs text-muted sm:hidden">
          <DateTime atMs={payment.createdAtMs} mayBreak />
          <span className="block">{t.payments.purposes[payment.purpose]}</span>
        </span>
      </>
    ),
  },
  { id: 'status', header: t.payments.status, cell: (payment) => <State payment={payment} /> },
];

/** Payments of the account, with receipts. */
export function PaymentsCard(): JSX.Element {
  const { data, error, refetch } = useQuery(paymentsQuery);
  return (
    <Card className="mt-6" title={t.payments.title} isFlush>
      <Table
        caption={t.payments.caption}
        columns={COLUMNS}
        rows={data?.payments}
        rowId={({ id }) => id}
        error={error}
        onRetry={() => void refetch()}
        empty={{ ...t.payments.empty, action: <TopUpLink /> }}
      />
    </Card>
  );
}

/** Amount paid, and how much of it was refunded or disputed. */
export function PaidAmount({ payment }: { readonly payment: Pick<Payment, 'amountUsd' | 'reversedUsd'> }): JSX.Element {
  return (
    <>
      <Money usd={payment.amountUsd} className="block" />
      {signOf(payment.reversedUsd) > 0 && (
        <span className="block text-xs text-muted">{t.payments.back(formatUsd(payment.reversedUsd))}</span>
      )}
    </>
  );
}

function State({ payment }: { readonly payment: Payment }): JSX.Element {
  return (
    <span className="flex flex-col items-start gap-1">
      <span className="flex flex-wrap items-center gap-x-2">
        <Badge tone={PAYMENT_TONES[payment.status]}>{t.payments.statuses[payment.status]}</Badge>
        {payment.hasReceipt && <Receipt payment={payment} />}
      </span>
      {payment.reason !== '' && <span className="text-xs text-muted">{payment.reason}</span>}
      {payment.reference !== null && payment.status === 'open' && <TransferDetails reference={payment.reference} />}
      {payment.address !== null && (
        <a href={payment.address} className={buttonClass({ size: 'sm' })}>
          {t.payments.payNow}
        </a>
      )}
    </span>
  );
}

/** Reference and bank details of an open transfer, which the user may send days later. */
function TransferDetails({ reference }: { readonly reference: string }): JSX.Element {
  const { data } = useQuery(billingQuery);
  return (
    <span className="text-xs text-muted">
      {t.topUp.referenceTitle}: <Copyable text={reference} what={t.topUp.reference} className="text-ink" />
      <span className="block wrap-anywhere whitespace-pre-line">{data?.bankTransfer}</span>
    </span>
  );
}

/** Opens the receipt. Its URL is requested from the payment service on demand. */
function Receipt({ payment: { id, createdAtMs, amountUsd } }: { readonly payment: Payment }): JSX.Element {
  const label = t.payments.receiptOf(formatDateTime(createdAtMs, useZone()), formatUsd(amountUsd));
  const { mutate, isPending } = useMutation({
    mutationFn: () => call(api.billing.payments[':id'].receipt.$get({ param: { id } })),
    onSuccess: ({ url }) => void window.open(url, '_blank', 'noopener'),
    onError: (error) => toast('bad', error.message),
  });
  return (
    <Button size="sm" variant="quiet" aria-label={label} isBusy={isPending} onClick={() => mutate()}>
      {t.payments.receipt}
    </Button>
  );
}
