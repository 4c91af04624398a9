import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { adminPayments as t } from '../../../strings/index.ts';
import { Card } from '../../../ui/card.tsx';
import { DateTime } from '../../../ui/date-time.tsx';
import { Table } from '../../../ui/table.tsx';
import type { Column } from '../../../ui/table.tsx';
import { OpenButton } from './open-button.tsx';
import { problemsQuery, type Problem } from './queries.ts';
import type { ViewProps } from './search.ts';

/** Problems that need an operator. */
export function ProblemsView({ go }: ViewProps): JSX.Element {
  const { data, error, refetch } = useQuery(problemsQuery);
  const columns: readonly Column<Problem>[] = [
    { id: 'time', header: t.time, cell: ({ at }) => <DateTime atMs={at} mayBreak />, className: 'max-sm:w-24' },
    {
      id: 'what',
      header: t.problems.what,
      cell: ({ kind, paymentId }) => (
        <>
          <span className="block font-medium">{t.problems.kinds[kind]}</span>
          {paymentId !== null && <OpenButton onOpen={() => go({ payment: paymentId })}>{t.problems.open}</OpenButton>}
        </>
      ),
    },
    { id: 'why', header: t.problems.explanation, cell: ({ explanation }) => <span className="wrap-anywhere">{explanation}</span> },
  ];
  return (
    <Card isFlush>
      <Table
        caption={t.problems.caption}
        columns={columns}
        rows={data?.problems}
        rowId={({ kind, at, explanation }) => `${kind}-${at}-${explanation}`}
        error={error}
        onRetry={() => void refetch()}
        empty={t.problems.empty}
      />
    </Card>
  );
}
