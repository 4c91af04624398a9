import type { JSX } from 'react';
import { adminAccount, billing } from '../../../strings/index.ts';
import { Card } from '../../../ui/card.tsx';
import { Money } from '../../../ui/money.tsx';
import { Stat } from '../../../ui/stat.tsx';
import { Table } from '../../../ui/table.tsx';
import { useZone } from '../../../zone.ts';
import { MoreSources, SOURCE_COLUMNS } from '../../billing/balance-card.tsx';
import type { AccountContent } from './queries.ts';

const t = adminAccount.money;

/** Balance, sources of credit, and spend of the account. */
export function MoneyCard({ content: { money, spend } }: { readonly content: AccountContent }): JSX.Element {
  const zone = useZone();
  return (
    <Card title={t.title} hint={t.zone(zone)} isFlush>
      <div className="stats gap-5 px-4 py-4 sm:px-5 sm:[--stat-width:26%]">
        <Stat label={t.available} value={<Money usd={money.availableUsd} />} />
        <Stat label={t.held} value={<Money usd={money.heldUsd} />} />
        <Stat label={t.balance} value={<Money usd={money.balanceUsd} />} />
        <Stat label={t.today} value={<Money usd={spend.todayUsd} />} />
        <Stat label={t.week} value={<Money usd={spend.weekUsd} />} />
        <Stat label={t.month} value={<Money usd={spend.monthUsd} />} />
      </div>
      <Table caption={billing.balance.caption} columns={SOURCE_COLUMNS} rows={money.sources} rowId={({ id }) => id} empty={t.empty} />
      <MoreSources more={money.moreSources} />
    </Card>
  );
}
