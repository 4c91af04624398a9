import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { formatUsd, signOf } from '../../money.ts';
import { formatCount } from '../../numbers.ts';
import { billing as t } from '../../strings/index.ts';
import { Banner } from '../../ui/banner.tsx';
import { Card } from '../../ui/card.tsx';
import { DateTime } from '../../ui/date-time.tsx';
import { Money } from '../../ui/money.tsx';
import { Stat } from '../../ui/stat.tsx';
import { Table } from '../../ui/table.tsx';
import type { Column } from '../../ui/table.tsx';
import { billingQuery } from './queries.ts';
import type { Billing } from './queries.ts';
import { TopUpLink } from './top-up-link.tsx';

type Source = Billing['sources'][number];

/** Columns of the remaining credit. */
export const SOURCE_COLUMNS: readonly Column<Source>[] = [
  { id: 'order', header: t.balance.order, cell: ({ order }) => order ?? <span className="text-muted">{t.balance.unused}</span> },
  {
    id: 'source',
    header: t.balance.source,
    cell: ({ kind, expiresAtMs }) => (
      <>
        {t.balance.kinds[kind]}
        {expiresAtMs !== null && (
          <span className="block text-xs text-muted sm:hidden">
            {t.balance.until} <DateTime atMs={expiresAtMs} mayBreak />
          </span>
        )}
      </>
    ),
  },
  {
    id: 'ends',
    header: t.balance.ends,
    isWideOnly: true,
    cell: ({ expiresAtMs }) => (expiresAtMs === null ? t.balance.never : <DateTime atMs={expiresAtMs} />),
  },
  {
    id: 'left',
    header: t.balance.left,
    align: 'right',
    cell: ({ leftUsd, amountUsd }) => (
      <>
        <Money usd={leftUsd} className="block" />
        <span className="block text-xs whitespace-nowrap text-muted">{t.balance.of(formatUsd(amountUsd))}</span>
      </>
    ),
  },
];

/** Available balance and the credit it consists of. */
export function BalanceCard(): JSX.Element {
  const { data, error, refetch } = useQuery(billingQuery);
  return (
    <Card title={t.balance.title} hint={t.balance.hints[data?.planUse ?? 'plan']} isFlush>
      {(data !== undefined || error === null) && (
        <div className="stats gap-4 px-4 py-4 sm:px-5">
          <Stat label={t.balance.available} value={data && <Money usd={data.availableUsd} />} />
          <Stat label={t.balance.held} value={data && <Money usd={data.heldUsd} />} />
        </div>
      )}
      {data !== undefined && signOf(data.balanceUsd) < 0 && (
        <div className="px-4 pb-4 sm:px-5">
          <Banner tone="warn" title={t.balance.debt} />
        </div>
      )}
      {data?.planUse === 'stop' && (
        <div className="px-4 pb-4 sm:px-5">
          <Banner tone="warn" title={t.balance.planOnly}>
            {t.balance.planOnlyText}
          </Banner>
        </div>
      )}
      <Table
        caption={t.balance.caption}
        columns={SOURCE_COLUMNS}
        rows={data?.sources}
        rowId={({ id }) => id}
        error={error}
        onRetry={() => void refetch()}
        empty={{ ...(data?.hasHadCredit === true ? t.balance.spent : t.balance.empty), action: <TopUpLink /> }}
      />
      <MoreSources more={data?.moreSources} />
    </Card>
  );
}

/** The sum of the credit that the list leaves out. */
export function MoreSources({ more }: { readonly more: Billing['moreSources'] | undefined }): JSX.Element | null {
  if (more === null || more === undefined) return null;
  return (
    <p className="border-t border-line px-4 py-3 text-sm text-muted sm:px-5">
      {t.balance.more(formatCount(more.count), formatUsd(more.leftUsd))}
    </p>
  );
}
