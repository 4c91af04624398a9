import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { formatUsd, signOf, sumUsd } from '../../money.ts';
import { formatDays, formatPercent } from '../../numbers.ts';
import { accountQuery, setupQuery } from '../../queries.ts';
import { overview as t } from '../../strings/index.ts';
import { Banner } from '../../ui/banner.tsx';
import { DateTime } from '../../ui/date-time.tsx';
import { LinkButton } from '../../ui/link-button.tsx';
import type { Overview } from './queries.ts';

const LOW_DAYS = 3;
const texts = t.banners;

/** Banners for everything that needs action: balance, email verification, failed payment, key limits, expiring keys. */
export function Banners({ overview }: { readonly overview: Overview }): JSX.Element {
  return (
    <div className="mb-6 flex flex-col gap-3 empty:hidden">
      <BalanceBanner overview={overview} />
      <EmailBanner />
      <PaymentBanner overview={overview} />
      {overview.keys.nearLimit.map(({ id, name, period, part, usedUsd, limitUsd }) => (
        <Banner
          key={`${id} ${period}`}
          tone={part >= 1 ? 'bad' : 'warn'}
          title={texts.nearLimit(name, formatPercent(part))}
          action={<KeyLink id={id} />}
        >
          {texts.nearLimitText(formatUsd(usedUsd), formatUsd(limitUsd), texts.periods[period])}
        </Banner>
      ))}
      {overview.keys.ending.map(({ id, name, expiresAtMs }) => (
        <Banner key={id} tone="warn" title={texts.ending(name)} action={<KeyLink id={id} />}>
          <DateTime atMs={expiresAtMs} />
        </Banner>
      ))}
    </div>
  );
}

function BalanceBanner({ overview: { balance } }: { readonly overview: Overview }): JSX.Element | null {
  const topUp = (
    <LinkButton to="/billing" size="sm">
      {texts.topUp}
    </LinkButton>
  );
  const balanceUsd = sumUsd([balance.availableUsd, balance.heldUsd]);
  if (signOf(balanceUsd) < 0)
    return (
      <Banner tone="bad" title={texts.debt(formatUsd(balanceUsd))} action={topUp}>
        {texts.debtText}
      </Banner>
    );
  if (signOf(balance.availableUsd) <= 0)
    return (
      <Banner tone="bad" title={texts.empty} action={topUp}>
        {texts.emptyText}
      </Banner>
    );
  if (balance.runwayDays === null || balance.runwayDays >= LOW_DAYS) return null;
  return (
    <Banner tone="warn" title={texts.low(formatDays(balance.runwayDays))} action={topUp}>
      {texts.lowText}
    </Banner>
  );
}

function PaymentBanner({ overview: { failedPayment } }: { readonly overview: Overview }): JSX.Element | null {
  if (failedPayment === null) return null;
  const { purpose, amountUsd, reason } = failedPayment;
  return (
    <Banner
      tone="bad"
      title={texts.paymentFailed(texts.purposes[purpose], formatUsd(amountUsd))}
      action={
        <LinkButton to={purpose === 'plan' ? '/plans' : '/billing'} size="sm">
          {texts.seePayments}
        </LinkButton>
      }
    >
      {reason === '' ? texts.paymentFailedText : reason}
    </Banner>
  );
}

function EmailBanner(): JSX.Element | null {
  const { data: account } = useQuery(accountQuery);
  const { data: setup } = useQuery(setupQuery);
  if (account === undefined || account.isEmailVerified) return null;
  return (
    <Banner
      tone="accent"
      title={texts.unverified}
      action={
        <LinkButton to="/verify" size="sm">
          {texts.verify}
        </LinkButton>
      }
    >
      {setup?.hasMail === false ? texts.unverifiedPrinted : texts.unverifiedText(account.email)}
    </Banner>
  );
}

function KeyLink({ id }: { readonly id: string }): JSX.Element {
  return (
    <LinkButton to="/keys/$id" params={{ id }} size="sm">
      {texts.openKey}
    </LinkButton>
  );
}
