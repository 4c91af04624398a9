import { Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { keys as t } from '../../strings/index.ts';
import { DateTime, RelativeTime } from '../../ui/date-time.tsx';
import { Money } from '../../ui/money.tsx';
import type { Column } from '../../ui/table.tsx';
import { BudgetMeter } from './budget-meter.tsx';
import { KeyStatus } from './key-status.tsx';
import type { Key } from './queries.ts';

/** What the list shows of a key. The name is always there. */
export const COLUMNS: readonly Column<Key>[] = [
  {
    id: 'name',
    header: t.head.name,
    isSortable: true,
    className: 'min-w-36',
    cell: (key) => (
      <Link to="/keys/$id" params={{ id: key.id }} className="font-medium break-words hover:underline">
        {key.name}
      </Link>
    ),
  },
  { id: 'secret', header: t.head.secret, cell: (key) => <Secrets secrets={key.secrets} /> },
  { id: 'status', header: t.head.status, cell: (key) => <KeyStatus status={key.status} rotatingUntilMs={key.rotatingUntilMs} /> },
  { id: 'today', header: t.head.today, align: 'right', isSortable: true, cell: (key) => <Money usd={key.spentTodayUsd} /> },
  { id: 'month', header: t.head.month, align: 'right', isSortable: true, cell: (key) => <Money usd={key.spentMonthUsd} /> },
  { id: 'total', header: t.head.total, align: 'right', isSortable: true, cell: (key) => <Money usd={key.spentTotalUsd} /> },
  { id: 'limits', header: t.head.limits, className: 'min-w-44', cell: (key) => <Limits budgets={key.budgets} /> },
  { id: 'models', header: t.head.models, className: 'whitespace-nowrap', cell: modelsText },
  { id: 'used', header: t.head.used, isSortable: true, cell: (key) => <LastUse atMs={key.usedAtMs} from={key.usedFrom} /> },
  { id: 'created', header: t.head.created, isSortable: true, cell: (key) => <DateTime atMs={key.createdAtMs} /> },
  {
    id: 'expires',
    header: t.head.expires,
    isSortable: true,
    cell: (key) => (key.expiresAtMs === null ? <Muted text={t.never} /> : <DateTime atMs={key.expiresAtMs} />),
  },
  { id: 'tags', header: t.head.tags, cell: (key) => <span className="text-xs">{key.tags.join(', ')}</span> },
];

function Secrets({ secrets }: Pick<Key, 'secrets'>): JSX.Element {
  return (
    <span className="flex flex-col font-mono text-[0.8125rem] whitespace-nowrap">
      {secrets.map(({ shown, createdAtMs }) => (
        <span key={`${shown} ${createdAtMs}`}>{shown}</span>
      ))}
    </span>
  );
}

function Limits({ budgets }: Pick<Key, 'budgets'>): JSX.Element {
  if (budgets.length === 0) return <Muted text={t.noLimits} />;
  return (
    <div className="flex w-44 flex-col gap-2">
      {budgets.map((budget) => (
        <BudgetMeter key={budget.period} budget={budget} isShort />
      ))}
    </div>
  );
}

function LastUse({ atMs, from }: { readonly atMs: number | null; readonly from: string | null }): JSX.Element {
  if (atMs === null) return <Muted text={t.neverUsed} />;
  return (
    <span className="flex flex-col whitespace-nowrap">
      <RelativeTime atMs={atMs} />
      {from !== null && <span className="text-xs text-muted">{t.from(from)}</span>}
    </span>
  );
}

function Muted({ text }: { readonly text: string }): JSX.Element {
  return <span className="whitespace-nowrap text-muted">{text}</span>;
}

function modelsText({ models, deniedModels }: Key): string {
  if (models !== null) return t.someModels(models.filter((id) => !deniedModels.includes(id)).length);
  return deniedModels.length === 0 ? t.allModels : t.exceptModels(deniedModels.length);
}
