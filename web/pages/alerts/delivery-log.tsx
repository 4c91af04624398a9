import type { JSX } from 'react';
import { alerts as t } from '../../strings/index.ts';
import { Badge } from '../../ui/badge.tsx';
import type { Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { DateTime, RelativeTime } from '../../ui/date-time.tsx';
import { Table } from '../../ui/table.tsx';
import type { Delivery } from './queries.ts';

const TONES: Readonly<Record<Delivery['status'], Tone>> = { waiting: 'warn', sent: 'good', failed: 'bad' };

interface DeliveryLogProps {
  readonly deliveries: readonly Delivery[] | undefined;
  readonly error: Error | null;
  readonly onRetry: () => void;
  /** Opens the form for a new alert. */
  readonly onAdd: () => void;
}

/** Alerts sent, with channel and outcome. */
export function DeliveryLog({ deliveries, error, onRetry, onAdd }: DeliveryLogProps): JSX.Element {
  return (
    <Card title={t.log.title} hint={t.log.hint} isFlush>
      <Table
        caption={t.log.caption}
        rows={deliveries}
        rowId={({ id }) => id}
        error={error}
        onRetry={onRetry}
        empty={{
          ...t.log.empty,
          action: (
            <Button isChange onClick={onAdd}>
              {t.add}
            </Button>
          ),
        }}
        columns={[
          {
            id: 'time',
            header: t.log.time,
            isWideOnly: true,
            cell: ({ createdAtMs }) => <DateTime atMs={createdAtMs} precision="second" />,
          },
          { id: 'what', header: t.log.what, className: 'sm:min-w-56', cell: (delivery) => <Message delivery={delivery} /> },
          { id: 'channel', header: t.log.channel, isWideOnly: true, cell: ({ channel }) => t.rules[channel] },
          { id: 'status', header: t.log.status, className: 'sm:min-w-40', cell: (delivery) => <Status delivery={delivery} /> },
        ]}
      />
    </Card>
  );
}

function Message({ delivery: { title, text, channel, createdAtMs } }: { readonly delivery: Delivery }): JSX.Element {
  return (
    <>
      <span className="block font-medium">{title}</span>
      <span className="block text-xs text-muted">{text}</span>
      <span className="mt-1 block text-xs text-muted sm:hidden">
        <DateTime atMs={createdAtMs} /> · {t.rules[channel]}
      </span>
    </>
  );
}

function Status({ delivery: { status, tries, nextTryAtMs, problem } }: { readonly delivery: Delivery }): JSX.Element {
  return (
    <span className="flex flex-col items-start gap-0.5">
      <Badge tone={TONES[status]}>{t.log.statuses[status]}</Badge>
      <span className="text-xs text-muted">
        {t.log.tries(tries)}
        {status === 'waiting' && tries > 0 && (
          <>
            , {t.log.next} <RelativeTime atMs={nextTryAtMs} />
          </>
        )}
      </span>
      {problem !== null && <span className="text-xs text-bad">{problem}</span>}
    </span>
  );
}
