import { TrendingDown, TrendingUp } from 'lucide-react';
import type { JSX, ReactNode } from 'react';
import { formatChange } from '../numbers.ts';
import { kit as t } from '../strings/index.ts';
import { Skeleton } from './skeleton.tsx';

interface StatProps {
  readonly label: string;
  /** Undefined while loading, null if nothing was measured. */
  readonly value: ReactNode;
  readonly hint?: ReactNode;
  /** Change against the previous period: 0.12 is 12 % more. Undefined if there is nothing to compare with. */
  readonly change?: number | undefined;
}

/** A labelled figure. */
export function Stat({ label, value, hint, change }: StatProps): JSX.Element {
  return (
    <div>
      <p className="label-caps">{label}</p>
      <div className="figures mt-1 flow-root text-xl font-medium wrap-anywhere *:whitespace-normal">
        {value === null ? (
          <span className="font-sans text-sm tracking-normal text-muted">{t.noData}</span>
        ) : (
          (value ?? <Skeleton className="my-1 h-5 w-24" />)
        )}
      </div>
      <p className="mt-0.5 flex flex-wrap items-center gap-x-2 text-xs text-muted">
        {change !== undefined && <Change part={change} />}
        {hint}
      </p>
    </div>
  );
}

function Change({ part }: { readonly part: number }): JSX.Element {
  const Icon = part < 0 ? TrendingDown : TrendingUp;
  return (
    <span className="figures inline-flex items-center gap-1">
      {part !== 0 && <Icon aria-hidden="true" className="size-3.5" />}
      <span className="sr-only">{part < 0 ? t.down : t.up}</span>
      {formatChange(part)}
    </span>
  );
}
