import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { JSX, ReactNode } from 'react';
import { formatUsd, signOf, sumUsd } from '../../money.ts';
import { formatDays, formatPercent } from '../../numbers.ts';
import { accountQuery, setupQuery } from '../../queries.ts';
import { overview as t } from '../../strings/index.ts';
import { Banner } from '../../ui/banner.tsx';
import { Button } from '../../ui/button.tsx';
import { DateTime, RelativeTime } from '../../ui/date-time.tsx';
import { LinkButton } from '../../ui/link-button.tsx';
import type { Overview } from './queries.ts';

const LOW_DAYS = 3;
/** More are folded: the figures below must stay in view. */
const SHOWN_MAX = 2;
const SEVERITY = ['bad', 'warn', 'accent'] as const;
const texts = t.banners;

interface Notice {
  readonly id: string;
  readonly tone: (typeof SEVERITY)[number];
  readonly title: string;
  readonly text: ReactNode;
  readonly action: JSX.Element;
}

/** Banners for everything that needs action, worst first: balance, email verification, failed payment, key limits, expiring keys. */
export function Banners({ overview }: { readonly overview: Overview }): JSX.Element | null {
  const [isOpen, setOpen] = useState(false);
  const email = useEmailNotice();
  const { failedPayment, keys, balance } = overview;
  const all = [...balanceNotices(balance), ...email, ...paymentNotices(failedPayment), ...keyNotices(keys)];
  const notices = SEVERITY.flatMap((tone) => all.filter((notice) => notice.tone === tone));
  if (notices.length === 0) return null;
  return (
    <div className="mb-6 flex flex-col gap-2">
      {notices.slice(0, isOpen ? undefined : SHOWN_MAX).map(({ id, text, ...notice }) => (
        <Banner key={id} {...notice}>
          {text}
        </Banner>
      ))}
      {notices.length > SHOWN_MAX && (
        <Button size="sm" variant="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)} className="self-start">
          {isOpen ? texts.fewer : texts.more(notices.length - SHOWN_MAX)}
        </Button>
      )}
    </div>
  );
}

function balanceNotices(balance: Overview['balance']): Notice[] {
  const action = (
    <LinkButton to="/billing" size="sm">
      {texts.topUp}
    </LinkButton>
  );
  const balanceUsd = sumUsd([balance.availableUsd, balance.heldUsd]);
  if (signOf(balanceUsd) < 0)
    return [{ id: 'balance', tone: 'bad', title: texts.debt(formatUsd(balanceUsd)), text: texts.debtText, action }];
  if (signOf(balance.availableUsd) <= 0) return [{ id: 'balance', tone: 'bad', title: texts.empty, text: texts.emptyText, action }];
  if (balance.runwayDays === null || balance.runwayDays >= LOW_DAYS) return [];
  return [{ id: 'balance', tone: 'warn', title: texts.low(formatDays(balance.runwayDays)), text: texts.lowText, action }];
}

function paymentNotices(failed: Overview['failedPayment']): Notice[] {
  if (failed === null) return [];
  const { purpose, amountUsd, reason } = failed;
  return [
    {
      id: 'payment',
      tone: 'bad',
      title: texts.paymentFailed(texts.purposes[purpose], formatUsd(amountUsd)),
      text: reason === '' ? texts.paymentFailedText : reason,
      action: (
        <LinkButton to={purpose === 'plan' ? '/plans' : '/billing'} size="sm">
          {texts.seePayments}
        </LinkButton>
      ),
    },
  ];
}

function keyNotices({ nearLimit, ending }: Overview['keys']): Notice[] {
  return [
    ...nearLimit.map(({ id, name, period, part, isReached, usedUsd, limitUsd, refusedAtMs }) => ({
      id: `${id} ${period}`,
      tone: isReached || part >= 1 ? ('bad' as const) : ('warn' as const),
      title: isReached ? texts.reached(name) : texts.nearLimit(name, formatPercent(part)),
      text: (
        <>
          {texts.nearLimitText(formatUsd(usedUsd), formatUsd(limitUsd), texts.periods[period])}
          {refusedAtMs !== null && (
            <>
              {' '}
              {texts.refused} <RelativeTime atMs={refusedAtMs} />.
            </>
          )}
        </>
      ),
      action: <KeyLink id={id} />,
    })),
    ...ending.map(({ id, name, expiresAtMs }) => ({
      id,
      tone: 'warn' as const,
      title: texts.ending(name),
      text: <DateTime atMs={expiresAtMs} />,
      action: <KeyLink id={id} />,
    })),
  ];
}

function useEmailNotice(): Notice[] {
  const { data: account } = useQuery(accountQuery);
  const { data: setup } = useQuery(setupQuery);
  if (account === undefined || account.isEmailVerified) return [];
  return [
    {
      id: 'email',
      tone: 'accent',
      title: texts.unverified,
      text: setup?.hasMail === false ? texts.unverifiedPrinted : texts.unverifiedText(account.email),
      action: (
        <LinkButton to="/verify" size="sm">
          {texts.verify}
        </LinkButton>
      ),
    },
  ];
}

function KeyLink({ id }: { readonly id: string }): JSX.Element {
  return (
    <LinkButton to="/keys/$id" params={{ id }} size="sm">
      {texts.openKey}
    </LinkButton>
  );
}
