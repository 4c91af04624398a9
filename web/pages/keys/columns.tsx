import { Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { ratioOf } from '../../money.ts';
import { keys as t } from '../../strings/index.ts';
import { DateTime, RelativeTime } from '../../ui/date-time.tsx';
import { Money } from '../../ui/money.tsx';
import type { Column } from '../../ui/table.tsx';
import { BudgetMeter } from './budget-meter.tsx';
import { KeyStatus } from './key-status.tsx';
import type { Budget, Key } from './queries.ts';

/** Columns hidden by default. */
export const HIDDEN_COLUMNS: readonly string[] = ['created', 'tags'];

/** Columns of the list of keys. The name is always shown. */
export const COLUMNS: readonly Column<Key>[] = [
  {
    id: 'name',
    header: t.head.name,
    isSortable: true,
    className: 'min-w-32 sm:max-w-64',
    cell: (key) => (
      <>
        <Link to="/keys/$id" params={{ id: key.id }} title={key.name} className="line-clamp-2 font-medium wrap-anywhere hover:underline">
          {key.name}
        </Link>
        <span className="block text-muted @min-[43rem]/list:hidden">
          <Secrets secrets={key.secrets} />
        </span>
        <span className="mt-1 block sm:hidden">
          <KeyStatus status={key.status} rotatingUntilMs={key.rotatingUntilMs} />
        </span>
      </>
    ),
  },
  {
    id: 'status',
    header: t.head.status,
    isWideOnly: true,
    cell: (key) => <KeyStatus status={key.status} rotatingUntilMs={key.rotatingUntilMs} />,
  },
  { id: 'secret', header: t.head.secret, minWidth: 'medium', cell: (key) => <Secrets secrets={key.secrets} /> },
  {
    id: 'used',
    header: t.head.used,
    isSortable: true,
    minWidth: 'large',
    cell: (key) => <LastUse atMs={key.usedAtMs} from={key.usedFrom} />,
  },
  {
    id: 'today',
    header: t.head.today,
    align: 'right',
    isSortable: true,
    minWidth: 'large',
    cell: (key) => <Money usd={key.spentTodayUsd} />,
  },
  { id: 'month', header: t.head.month, align: 'right', isSortable: true, cell: (key) => <Money usd={key.spentMonthUsd} /> },
  {
    id: 'total',
    header: t.head.total,
    align: 'right',
    isSortable: true,
    minWidth: 'full',
    cell: (key) => <Money usd={key.spentTotalUsd} />,
  },
  { id: 'limits', header: t.head.limits, isWideOnly: true, className: 'min-w-36', cell: (key) => <TightestLimit budgets={key.budgets} /> },
  { id: 'models', header: t.head.models, minWidth: 'full', cell: modelsText },
  {
    id: 'expires',
    header: t.head.expires,
    minWidth: 'full',
    isSortable: true,
    cell: (key) => (key.expiresAtMs === null ? <Muted text={t.never} /> : <DateTime atMs={key.expiresAtMs} mayBreak />),
  },
  { id: 'created', header: t.head.created, isSortable: true, isWideOnly: true, cell: (key) => <DateTime atMs={key.createdAtMs} /> },
  { id: 'tags', header: t.head.tags, isWideOnly: true, cell: (key) => <span className="text-xs">{key.tags.join(', ')}</span> },
];

function Secrets({ secrets }: Pick<Key, 'secrets'>): JSX.Element {
  return (
    <span className="flex flex-col font-mono text-xs whitespace-nowrap">
      {secrets.map(({ shown, createdAtMs }) => (
        <span key={`${shown} ${createdAtMs}`}>{shown}</span>
      ))}
    </span>
  );
}

/** The budget closest to its limit, since it will stop the key first. */
function TightestLimit({ budgets }: Pick<Key, 'budgets'>): JSX.Element {
  const [tightest, ...others] = budgets.toSorted((first, second) => partUsed(second) - partUsed(first));
  if (tightest === undefined) return <Muted text={t.noLimits} />;
  return (
    <div className="max-w-44">
      <BudgetMeter budget={tightest} isShort />
      {others.length > 0 && <p className="text-xs text-muted">{t.moreLimits(others.length)}</p>}
    </div>
  );
}

function partUsed({ spentUsd, usd, isReached }: Budget): number {
  return isReached ? Number.POSITIVE_INFINITY : ratioOf(spentUsd, usd);
}

function LastUse({ atMs, from }: { readonly atMs: number | null; readonly from: string | null }): JSX.Element {
  if (atMs === null) return <Muted text={t.neverUsed} />;
  return (
    <span className="flex flex-col">
      <RelativeTime atMs={atMs} />
      {from !== null && <span className="text-xs text-muted">{t.from(from)}</span>}
    </span>
  );
}

function Muted({ text }: { readonly text: string }): JSX.Element {
  return <span className="whitespace-nowrap text-muted">{text}</span>;
}

function modelsText({ models, deniedModels }: Key): string {
  if (models !== null) {
    const allowed = models.filter((id) => !deniedModels.includes(id));
    const providers = allowed.filter((id) => id.endsWith('/*')).length;
    return t.someModels(allowed.length - providers, providers);
  }
  return deniedModels.length === 0 ? t.allModels : t.exceptModels(deniedModels.length);
}
