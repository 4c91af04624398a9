import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { JSX } from 'react';
import { formatUsd, formatUsdExact, signOf } from '../../money.ts';
import { accountQuery } from '../../queries.ts';
import { billing as t } from '../../strings/index.ts';
import { Banner } from '../../ui/banner.tsx';
import { Button } from '../../ui/button.tsx';
import { isWaiting, paymentQuery, refreshMoney } from './queries.ts';

const route = getRouteApi('/app/billing');

/** Result of the payment that the user returns from. It is polled, so that no reload is needed. */
export function Returned(): JSX.Element | null {
  const { payment, left } = route.useSearch();
  const navigate = route.useNavigate();
  const close = (): void => void navigate({ search: ({ payment: _payment, left: _left, ...rest }) => rest, replace: true });
  const action = (
    <Button size="sm" variant="quiet" onClick={close}>
      {t.returned.close}
    </Button>
  );
  if (payment !== undefined)
    return (
      <div className="mb-6">
        <PaymentResult id={payment} action={action} />
      </div>
    );
  if (left === undefined) return null;
  return (
    <div className="mb-6">
      <Banner tone="accent" title={t.returned.left} action={action} />
    </div>
  );
}

function PaymentResult({ id, action }: { readonly id: string; readonly action: JSX.Element }): JSX.Element | null {
  const { data: payment, error } = useQuery(paymentQuery(id));
  const { data: account } = useQuery(accountQuery);
  const status = payment?.status;
  useEffect(() => {
    if (status !== undefined && !isWaiting(status)) void refreshMoney();
  }, [status]);
  if (error !== null) return <Banner tone="bad" title={error.message} action={action} />;
  if (payment === undefined || isWaiting(payment.status))
    return (
      <Banner tone="accent" title={t.returned.waiting}>
        {t.returned.waitingText}
      </Banner>
    );
  if (payment.status === 'expired') return <Banner tone="warn" title={t.returned.expired} action={action} />;
  if (payment.status === 'failed')
    return (
      <Banner tone="bad" title={t.returned.failed} action={action}>
        {payment.reason}
      </Banner>
    );
  return (
    <Banner tone="good" title={t.returned.paid(formatUsdExact(payment.amountUsd))} action={action}>
      {signOf(payment.bonusUsd) > 0 && <p>{t.returned.bonus(formatUsdExact(payment.bonusUsd))}</p>}
      {payment.reason !== '' && <p>{payment.reason}</p>}
      {account !== undefined && <p>{t.returned.paidText(formatUsd(account.availableUsd))}</p>}
    </Banner>
  );
}
