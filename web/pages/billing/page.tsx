import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { JSX } from 'react';
import { accountQuery } from '../../queries.ts';
import { billing as t } from '../../strings/index.ts';
import { dayStartMs, formatDate } from '../../time.ts';
import { useZone } from '../../zone.ts';
import { DateTime } from '../../ui/date-time.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { AutoTopUpCard } from './auto-top-up-card.tsx';
import { BalanceCard } from './balance-card.tsx';
import { CardsCard } from './cards-card.tsx';
import { PaymentsCard } from './payments-card.tsx';
import { RedeemCard } from './redeem-card.tsx';
import { Returned } from './returned.tsx';
import { billingQuery } from './queries.ts';
import { StatementCard } from './statement-card.tsx';
import { TOP_UP_ID } from './top-up-link.tsx';
import { TopUpCard } from './top-up-card.tsx';

const route = getRouteApi('/app/billing');

/** Two independent columns; on phones a single one, sorted by `order-*`. */
const COLUMN = 'contents lg:flex lg:flex-col lg:gap-6 lg:*:order-none';

/** Billing: balance, top-ups, payments and statement. */
export function BillingPage(): JSX.Element {
  const { data } = useQuery(billingQuery);
  // Saved cards and automatic top-up need a service that accepts cards.
  const hasCards = data?.hasCards === true;
  return (
    <>
      <PageHeader title={t.title} text={t.text} />
      <Letterhead />
      <Returned />
      <div className="flex flex-col gap-6 lg:grid lg:grid-cols-2 lg:items-start">
        <div className={COLUMN}>
          <BalanceCard />
          <div className="order-3 print:hidden">
            <RedeemCard />
          </div>
          {hasCards && (
            <div className="order-4 print:hidden">
              <CardsCard />
            </div>
          )}
        </div>
        <div className={COLUMN}>
          <div id={TOP_UP_ID} className="order-2 scroll-mt-4 print:hidden">
            <TopUpCard />
          </div>
          {hasCards && (
            <div className="order-5 print:hidden">
              <AutoTopUpCard />
            </div>
          )}
        </div>
      </div>
      <PaymentsCard />
      <StatementCard />
    </>
  );
}

/** Only on paper: whose statement it is, from which service, and for which time. */
function Letterhead(): JSX.Element {
  const { from, to } = route.useSearch();
  const { data: account } = useQuery(accountQuery);
  const zone = useZone();
  const dayName = (day: string | undefined): string | undefined =>
    day === undefined ? undefined : formatDate(dayStartMs(day, zone), zone);
  return (
    <div className="mb-4 hidden text-sm break-words print:block">
      <p className="font-medium">{t.letterhead.service(location.host)}</p>
      {account !== undefined && <p>{t.letterhead.account(account.email, account.id)}</p>}
      {(from !== undefined || to !== undefined) && <p>{t.letterhead.days(dayName(from), dayName(to))}</p>}
      <p>
        {t.letterhead.printed} <DateTime atMs={Date.now()} />
      </p>
    </div>
  );
}
