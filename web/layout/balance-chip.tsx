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
      className="flex min-w-0 items-baseline justify-between gap-3 rounded-md border border-line bg-raised px-3 py-1.5 text-sm hover:bg-hover"
    >
      <span className="min-w-0 overflow-hidden text-xs text-muted">{t.balance}</span>
      {account === undefined ? <Skeleton className="w-14" /> : <Money usd={account.availableUsd} className="font-medium" />}
    </Link>
  );
}
