import { useMutation } from '@tanstack/react-query';
import type { JSX } from 'react';
import { api, call } from '../../../api.ts';
import { formatCount } from '../../../numbers.ts';
import { adminPayments as t } from '../../../strings/index.ts';
import { Banner } from '../../../ui/banner.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Copyable } from '../../../ui/copyable.tsx';
import { ErrorState } from '../../../ui/error-state.tsx';
import { Select } from '../../../ui/select.tsx';
import { Table } from '../../../ui/table.tsx';
import type { Column } from '../../../ui/table.tsx';
import { OpenButton } from './open-button.tsx';
import type { Difference } from './queries.ts';
import { DAYS, type ViewProps } from './search.ts';

/** Compares Stripe with the ledger on demand. */
export function CompareView({ search: { days = '30' }, go }: ViewProps): JSX.Element {
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () => call(api.admin.payments.compare.$post({ json: { days: Number(days) } })),
  });
  const compared = formatCount(data?.compared ?? 0);
  const count = data?.differences.length ?? 0;
  const actions = (
    <>
      <Select
        aria-label={t.compare.days}
        value={days}
        choices={DAYS.map((value) => ({ value, label: t.compare.lastDays(value) }))}
        onChoose={(chosen) => go({ days: chosen })}
      />
      <Button variant="primary" isBusy={isPending} onClick={() => mutate()}>
        {t.compare.action}
      </Button>
    </>
  );
  return (
    <Card title={t.compare.title} hint={t.compare.text} actions={actions} isFlush>
      {error !== null && <ErrorState error={error} onRetry={() => mutate()} />}
      {error === null && data !== undefined && (
        <div className="flex flex-col gap-3 p-4 sm:p-5">
          <Banner tone={count > 0 ? 'bad' : data.isCutShort ? 'warn' : 'good'} title={summarise(compared, count)}>
            {data.isCutShort && <p>{t.compare.cutShort}</p>}
            {data.foreign > 0 && <p>{t.compare.foreign(formatCount(data.foreign))}</p>}
          </Banner>
          {count > 0 && <Differences differences={data.differences} onOpen={(payment) => go({ payment })} />}
        </div>
      )}
    </Card>
  );
}

function summarise(compared: string, count: number): string {
  return count === 0 ? t.compare.agrees(compared) : t.compare.differs(compared, count);
}

interface DifferencesProps {
  readonly differences: readonly Difference[];
  readonly onOpen: (id: string) => void;
}

function Differences({ differences, onOpen }: DifferencesProps): JSX.Element {
  const columns: readonly Column<Difference>[] = [
    {
      id: 'what',
      header: t.problems.what,
      className: 'max-w-40 sm:max-w-72',
      cell: ({ kind, paymentId, providerRef }) => (
        <>
          <span className="block font-medium">
            {paymentId === null ? t.compare.kinds[kind] : <OpenButton onOpen={() => onOpen(paymentId)}>{t.compare.kinds[kind]}</OpenButton>}
          </span>
          {providerRef !== '' && <Copyable text={providerRef} what={t.whats.reference} />}
        </>
      ),
    },
    { id: 'why', header: t.problems.explanation, cell: ({ explanation }) => <span className="wrap-anywhere">{explanation}</span> },
  ];
  return <Table caption={t.compare.caption} columns={columns} rows={differences} rowId={rowId} empty={t.problems.empty} />;
}

function rowId({ kind, providerRef, paymentId }: Difference): string {
  return `${kind}-${providerRef}-${paymentId ?? ''}`;
}
