import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { accountQuery } from '../queries.ts';
import { shell as t } from '../strings/index.ts';
import { Money } from '../ui/money.tsx';
import { Skeleton } from '../ui/skeleton.tsx';

/** The available balance, visible on every page. */
export function BalanceChip(): JSX.Element {
  const { data: account } = useQuery(accountQuery);
  return (
    <Link
      to="/billing"
      // One line high: a long amount pushes the label to a second line, out of sight.
      className="flex h-[2.1875rem] min-w-0 flex-row-reverse flex-wrap items-baseline justify-between gap-x-3 gap-y-2 overflow-hidden rounded-md border border-line bg-raised px-3 py-1.5 text-sm hover:bg-hover"
    >
      <span className="order-2 text-xs text-muted">{t.balance}</span>
      {account === undefined ? <Skeleton className="w-14" /> : <Money usd={account.availableUsd} className="font-medium" />}
    </Link>
  );
}
