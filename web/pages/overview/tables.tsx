import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { overview as t } from '../../strings/index.ts';
import { Breakable } from '../../ui/breakable.tsx';
import { Card } from '../../ui/card.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Copyable } from '../../ui/copyable.tsx';
import { Count } from '../../ui/count.tsx';
import { RelativeTime } from '../../ui/date-time.tsx';
import { LinkButton } from '../../ui/link-button.tsx';
import { Money } from '../../ui/money.tsx';
import { Table } from '../../ui/table.tsx';
import { errorsQuery, topQuery, type Top } from './queries.ts';

const SPEND = { id: 'spend', header: t.spendColumn, align: 'right' } as const;
const REQUESTS = { id: 'requests', header: t.requestsColumn, align: 'right' } as const;

type Figures = Pick<Top['models'][number], 'spend' | 'requests'>;
const FIGURE_COLUMNS = [
  { ...SPEND, cell: ({ spend }: Figures) => <Money usd={String(spend)} /> },
  { ...REQUESTS, cell: ({ requests }: Figures) => <Count value={Number(requests)} /> },
];

const ALL_REQUESTS = (
  <LinkButton to="/requests" search={{}}>
    {t.allRequests}
  </LinkButton>
);

/** The most expensive keys, with links to their usage. */
export function TopKeys({ zone }: { readonly zone: string }): JSX.Element {
  const { data: top, error, refetch } = useQuery(topQuery(zone));
  return (
    <Card title={t.topKeys} hint={top && t.topHint(top.days, zone)} isFlush>
      <Table
        caption={t.tableOf(t.topKeys)}
        columns={[
          {
            id: 'name',
            header: t.key,
            className: 'w-full',
            cell: ({ id, name, hint }: Top['keys'][number]) => (
              <Link to="/usage" search={{ range: '30d', key: id }} className="link wrap-anywhere">
                {name}{' '}
                <span className="font-mono text-xs text-muted">
                  <Breakable text={hint} />
                </span>
              </Link>
            ),
          },
          ...FIGURE_COLUMNS,
        ]}
        rows={top?.keys}
        rowId={({ id }) => id}
        error={error}
        onRetry={() => void refetch()}
        empty={t.noUsage}
      />
    </Card>
  );
}

/** The most expensive models, with links to their usage. */
export function TopModels({ zone }: { readonly zone: string }): JSX.Element {
  const { data: top, error, refetch } = useQuery(topQuery(zone));
  return (
    <Card title={t.topModels} hint={top && t.topHint(top.days, zone)} isFlush>
      <Table
        caption={t.tableOf(t.topModels)}
        columns={[
          {
            id: 'name',
            header: t.model,
            className: 'w-full',
            cell: ({ id }: Top['models'][number]) => (
              <span className="inline-flex items-center gap-1">
                <Link to="/usage" search={{ range: '30d', model: id }} className="link wrap-anywhere">
                  <Breakable text={id} />
                </Link>
                <span className="max-sm:hidden">
                  <CopyButton text={id} what={`${t.modelId} ${id}`} />
                </span>
              </span>
            ),
          },
          ...FIGURE_COLUMNS,
        ]}
        rows={top?.models}
        rowId={({ id }) => id}
        error={error}
        onRetry={() => void refetch()}
        empty={t.noUsage}
      />
    </Card>
  );
}

/** The latest failed requests, with links to their details. */
export function LatestErrors({ zone }: { readonly zone: string }): JSX.Element {
  const { data, error, refetch } = useQuery(errorsQuery(zone));
  return (
    <Card
      className="mt-6"
      title={t.latestErrors}
      hint={t.errorsRange(zone)}
      isFlush
      actions={
        <Link to="/requests" search={{ status: 'error' }} className="link text-sm">
          {t.allErrors}
        </Link>
      }
    >
      <Table
        caption={t.tableOf(t.latestErrors)}
        columns={[
          {
            id: 'when',
            header: t.when,
            cell: ({ id, atMs }) => (
              <Link to="/requests" search={{ status: 'error', request: id }} className="link">
                <RelativeTime atMs={atMs} />
              </Link>
            ),
          },
          {
            id: 'error',
            header: t.error,
            cell: ({ errorCode, model }) => (
              <>
                <code className="font-mono text-xs">{errorCode ?? '–'}</code>
                <span className="block text-xs wrap-anywhere text-muted sm:hidden">
                  <Breakable text={model} />
                </span>
              </>
            ),
          },
          {
            id: 'model',
            header: t.model,
            isWideOnly: true,
            cell: ({ model }) => <Copyable text={model} what={t.modelId} className="whitespace-nowrap" />,
          },
        ]}
        rows={data?.requests}
        rowId={({ id }) => id}
        error={error}
        onRetry={() => void refetch()}
        empty={{ ...t.noErrors, action: ALL_REQUESTS }}
      />
    </Card>
  );
}
