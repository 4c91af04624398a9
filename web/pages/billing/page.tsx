import type { JSX } from 'react';
import { billing as t } from '../../strings/index.ts';
import { PageHeader } from '../../ui/page-header.tsx';
import { AutoTopUpCard } from './auto-top-up-card.tsx';
import { BalanceCard } from './balance-card.tsx';
import { CardsCard } from './cards-card.tsx';
import { PaymentsCard } from './payments-card.tsx';
import { RedeemCard } from './redeem-card.tsx';
import { Returned } from './returned.tsx';
import { StatementCard } from './statement-card.tsx';
import { TopUpCard } from './top-up-card.tsx';

/** Billing: what there is, how more comes in, and every movement. */
export function BillingPage(): JSX.Element {
  return (
    <>
      <PageHeader title={t.title} text={t.text} />
      <Returned />
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <BalanceCard />
        <TopUpCard />
        <RedeemCard />
        <CardsCard />
        <AutoTopUpCard />
        <PaymentsCard />
      </div>
      <StatementCard />
    </>
  );
}
