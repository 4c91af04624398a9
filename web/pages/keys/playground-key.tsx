import { Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { keys as t } from '../../strings/index.ts';
import { Card } from '../../ui/card.tsx';
import { RelativeTime } from '../../ui/date-time.tsx';
import { Money } from '../../ui/money.tsx';
import { Stat } from '../../ui/stat.tsx';
import type { Key } from './queries.ts';

/** The key that the dashboard itself uses to call models. Shown separately, because no client has it. */
export function PlaygroundKey({ playgroundKey: key }: { readonly playgroundKey: Key }): JSX.Element {
  return (
    <Card
      title={t.playground.title}
      hint={t.playground.hint}
      className="mt-6"
      actions={
        <Link to="/keys/$id" params={{ id: key.id }} className="link text-sm">
          {t.playground.open}
        </Link>
      }
    >
      <div className="grid grid-cols-2 gap-4 sm:grid-cols-4">
        <Stat label={t.head.today} value={<Money usd={key.spentTodayUsd} />} />
        <Stat label={t.head.month} value={<Money usd={key.spentMonthUsd} />} />
        <Stat label={t.head.total} value={<Money usd={key.spentTotalUsd} />} />
        <Stat label={t.head.used} value={key.usedAtMs === null ? '–' : <RelativeTime atMs={key.usedAtMs} />} />
      </div>
    </Card>
  );
}
