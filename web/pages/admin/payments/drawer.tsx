import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { JSX, ReactNode } from 'react';
import { accountLabel } from '../../../account-label.ts';
import { api, call } from '../../../api.ts';
import { signOf } from '../../../money.ts';
import { adminPayments as t } from '../../../strings/index.ts';
import { Button } from '../../../ui/button.tsx';
import { Copyable } from '../../../ui/copyable.tsx';
import { DateTime } from '../../../ui/date-time.tsx';
import { Drawer } from '../../../ui/drawer.tsx';
import { Facts } from '../../../ui/facts.tsx';
import { Money } from '../../../ui/money.tsx';
import { DrawerSection } from '../../../ui/drawer-section.tsx';
import { toast } from '../../../ui/toast.tsx';
import { LoadingOrError } from '../../../ui/loading-or-error.tsx';
import { actionLabel, Changes } from '../audit/entry.tsx';
import { PaidAmount } from '../../billing/payments-card.tsx';
import { EventState } from './events-view.tsx';
import { State } from './list-view.tsx';
import { detailQuery, refreshPayments, type Detail } from './queries.ts';
import { TransferActions } from './transfer-actions.tsx';

interface PaymentDrawerProps {
  readonly id: string | undefined;
  readonly onClose: () => void;
}

/** Details and history of one payment. */
export function PaymentDrawer({ id, onClose }: PaymentDrawerProps): JSX.Element {
  return (
    <Drawer
      isOpen={id !== undefined}
      onClose={onClose}
      title={t.detail.title}
      documentTitle={id}
      text={id !== undefined && <Copyable text={id} what={t.whats.payment} />}
    >
      {id !== undefined && <Details id={id} />}
    </Drawer>
  );
}

function Details({ id }: { readonly id: string }): JSX.Element {
  const { data: payment, error, refetch } = useQuery(detailQuery(id));
  if (payment === undefined) return <LoadingOrError error={error} onRetry={() => void refetch()} className="h-96" />;
  return (
    <div className="flex flex-col gap-7">
      <div className="flex flex-wrap items-center gap-x-5 gap-y-2">
        <span className="text-xl font-medium">
          <PaidAmount payment={payment} />
        </span>
        <span>
          <State payment={payment} />
        </span>
      </div>
      <Actions payment={payment} />
      <DrawerSection title={t.detail.facts}>
        <PaymentFacts payment={payment} />
      </DrawerSection>
      <DrawerSection title={t.detail.life}>
        <History payment={payment} />
      </DrawerSection>
    </div>
  );
}

function Actions({ payment }: { readonly payment: Detail }): JSX.Element | null {
  const { id, way, status, hasReceipt } = payment;
  const ask = useMutation({
    mutationFn: () => call(api.admin.payments[':id'].ask.$post({ param: { id } })),
    onSuccess: (asked) => toast('good', t.detail.asked(t.statuses[asked.status])),
    onError: (error) => toast('bad', error.message),
    onSettled: refreshPayments,
  });
  const receipt = useMutation({
    mutationFn: () => call(api.admin.payments[':id'].receipt.$get({ param: { id } })),
    onSuccess: ({ url }) => void window.open(url, '_blank', 'noopener'),
    onError: (error) => toast('bad', error.message),
  });
  if (way === 'transfer') return status === 'paid' ? null : <TransferActions payment={payment} />;
  return (
    <div className="flex flex-wrap gap-2">
      {status !== 'paid' && (
        <Button isBusy={ask.isPending} onClick={() => ask.mutate()}>
          {t.detail.ask}
        </Button>
      )}
      {hasReceipt && (
        <Button isBusy={receipt.isPending} onClick={() => receipt.mutate()}>
          {t.detail.receipt}
        </Button>
      )}
    </div>
  );
}

function PaymentFacts({ payment }: { readonly payment: Detail }): JSX.Element {
  const { email, accountId, way, purpose, reference, bonusUsd } = payment;
  const facts: readonly (readonly [string, ReactNode])[] = [
    [
      t.account,
      <span key="account" className="inline-flex max-w-full flex-wrap items-center gap-x-2 break-all">
        <Link to="/admin/accounts/$id" params={{ id: accountId }} className="link">
          {accountLabel(email)}
        </Link>
        <Copyable text={accountId} what={t.whats.account} />
      </span>,
    ],
    [t.way, t.ways[way]],
    [t.detail.for, t.purposes[purpose]],
    [t.reference, reference === null ? t.none : <Copyable key="reference" text={reference} what={t.whats.reference} />],
    [t.detail.bonus, signOf(bonusUsd) === 0 ? t.none : <Money key="bonus" usd={bonusUsd} />],
  ];
  return <Facts facts={facts} />;
}

function History({ payment: { life, way } }: { readonly payment: Detail }): JSX.Element {
  return (
    <ol className="flex flex-col gap-3 border-l border-line pl-4 text-sm">
      {life.map(({ atMs, kind, text, event, entry }) => (
        <li key={`${atMs}-${kind}-${event?.id ?? entry?.action ?? text}`} className="flex flex-col items-start gap-0.5">
          <span className="flex flex-wrap gap-x-3">
            <span className="font-medium">{event?.type ?? (entry === null ? t.detail.moments[kind] : actionLabel(entry.action))}</span>
            <span className="text-muted">
              <DateTime atMs={atMs} precision="second" />
            </span>
          </span>
          {event === null ? (
            <span className="break-words text-muted">{entry?.actor ?? text}</span>
          ) : (
            <EventState event={event} hasStripe={way !== 'transfer'} />
          )}
          {entry !== null && <Changes changes={entry.changes} />}
          {event !== null && <Copyable text={event.id} what={t.whats.event} />}
        </li>
      ))}
    </ol>
  );
}
