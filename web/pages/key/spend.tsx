import type { JSX } from 'react';
import { key as t, keys } from '../../strings/index.ts';
import { Card } from '../../ui/card.tsx';
import { Count } from '../../ui/count.tsx';
import { Money } from '../../ui/money.tsx';
import { Stat } from '../../ui/stat.tsx';
import { useZone } from '../../zone.ts';
import type { KeyPageContent } from '../keys/queries.ts';

/** Spend of the key by period. */
export function Spend({ content: { key } }: { readonly content: KeyPageContent }): JSX.Element {
  const zone = useZone();
  return (
    <Card title={t.spend.title} hint={keys.zoneNote(zone)}>
      <div className="grid grid-cols-2 gap-5">
        <Stat label={t.spend.today} value={<Money usd={key.spentTodayUsd} />} />
        <Stat label={t.spend.month} value={<Money usd={key.spentMonthUsd} />} />
        <Stat label={t.spend.total} value={<Money usd={key.spentTotalUsd} />} />
        <Stat label={t.spend.lastDay} value={<Count value={key.requestsLastDay} />} />
      </div>
    </Card>
  );
}
