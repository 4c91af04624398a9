import { Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { formatMs, formatPercent } from '../../numbers.ts';
import type { ListedModel } from '../../queries.ts';
import { models as t } from '../../strings/index.ts';
import { Breakable } from '../../ui/breakable.tsx';
import type { ColumnMinWidth } from '../../ui/column-class.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Count } from '../../ui/count.tsx';
import { Money } from '../../ui/money.tsx';
import type { Column } from '../../ui/table.tsx';

const head = t.columns;

/** Columns of the price list. */
export const columns: readonly Column<ListedModel>[] = [
  { id: 'model', header: head.model, cell: (model) => <Name model={model} />, isSortable: true },
  figure('input', (model) => <Money usd={model.price.input} isExact />),
  figure('cachedInput', (model) => <Money usd={model.price.cachedInput} isExact className="text-muted" />, 'large'),
  figure('cacheWrite', (model) => <Money usd={model.price.cacheWrite} isExact className="text-muted" />, 'large'),
  figure('output', (model) => <Money usd={model.price.output} isExact />),
  figure('context', (model) => <Count value={model.contextLength} isCompact />),
  figure('maxOutput', (model) => <Count value={model.maxOutputTokens} isCompact />, 'full'),
  figure('success', ({ measured }) => (measured === null ? <NoData /> : formatPercent(measured.successPart))),
  figure('firstToken', ({ measured }) => (measured === null ? <NoData /> : <Times {...measured} />), 'medium'),
  figure('requests', ({ measured }) => (measured === null ? <NoData /> : <Count value={measured.requests} isCompact />), 'full'),
];

/** Returns a column of figures. Phones show only the two most important prices; the details have the rest. */
function figure(id: keyof typeof head, cell: Column<ListedModel>['cell'], minWidth?: ColumnMinWidth): Column<ListedModel> {
  return {
    id,
    header: head[id],
    cell: (model) => <span className="figures">{cell(model)}</span>,
    align: 'right',
    isSortable: true,
    isWideOnly: id !== 'input' && id !== 'output',
    minWidth,
  };
}

function Name({ model }: { readonly model: ListedModel }): JSX.Element {
  return (
    <div className="sm:min-w-44">
      <Link
        from="/models"
        to="/models"
        search={(old) => ({ ...old, id: model.id })}
        resetScroll={false}
        onClick={(event) => event.stopPropagation()}
        className="font-medium hover:underline"
      >
        {model.name}
      </Link>
      {/* Pressing the copy button must not open the row. */}
      <div className="flex items-center gap-1" onClick={(event) => event.stopPropagation()} role="presentation">
        <code className="font-mono text-xs wrap-anywhere text-muted">
          <Breakable text={model.id} />
        </code>
        <CopyButton text={model.id} what={`${t.modelId} ${model.id}`} />
      </div>
    </div>
  );
}

/** Median and 95th percentile side by side. */
function Times({ firstTokenP50Ms: p50, firstTokenP95Ms: p95 }: NonNullable<ListedModel['measured']>): JSX.Element {
  if (p50 === null || p95 === null) return <NoData />;
  return (
    <span className="whitespace-nowrap">
      {formatMs(p50)} <span className="text-muted">/ {formatMs(p95)}</span>
    </span>
  );
}

/** Shown if nothing was measured, which is not zero. */
function NoData(): JSX.Element {
  return <span className="font-sans text-xs tracking-normal text-muted">{t.noData}</span>;
}
