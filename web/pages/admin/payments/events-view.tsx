import { useMutation, useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { api, call } from '../../../api.ts';
import { adminPayments as t } from '../../../strings/index.ts';
import { Badge } from '../../../ui/badge.tsx';
import type { Tone } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Copyable } from '../../../ui/copyable.tsx';
import { DateTime } from '../../../ui/date-time.tsx';
import { FilterBar } from '../../../ui/filter-bar.tsx';
import { FilterSelect, labelled } from '../../../ui/filter-select.tsx';
import { Pagination } from '../../../ui/pagination.tsx';
import { Table } from '../../../ui/table.tsx';
import type { Column } from '../../../ui/table.tsx';
import { toast } from '../../../ui/toast.tsx';
import { usePages } from '../../../use-pages.ts';
import { OpenButton } from './open-button.tsx';
import { eventsQuery, refreshPayments, type StripeEvent } from './queries.ts';
import { OUTCOMES, type ViewProps } from './search.ts';

const TONES: Readonly<Record<StripeEvent['outcome'], Tone>> = { received: 'bad', refused: 'warn', applied: 'good', ignored: 'neutral' };

/** Events received from Stripe, and their outcomes. */
export function EventsView({ search, go }: ViewProps): JSX.Element {
  const { data, error, refetch } = useQuery(eventsQuery(search));
  const pages = usePages({ at: search.before, next: data?.next, onGo: (before) => go({ before }) });
  const choose = (outcome: typeof search.outcome): void => go({ outcome, before: undefined });
  const clear = search.outcome === undefined ? undefined : () => choose(undefined);
  const columns: readonly Column<StripeEvent>[] = [
    { id: 'time', header: t.time, isWideOnly: true, cell: ({ createdAtMs }) => <DateTime atMs={createdAtMs} /> },
    {
      id: 'event',
      header: t.events.event,
      className: 'max-w-40 sm:max-w-72',
      cell: ({ id, type, paymentId, createdAtMs }) => (
        <>
          <span className="block break-all">
            {paymentId === null ? type : <OpenButton onOpen={() => go({ payment: paymentId })}>{type}</OpenButton>}
          </span>
          <Copyable text={id} what={t.whats.event} />
          <span className="block text-xs text-muted sm:hidden">
            <DateTime atMs={createdAtMs} />
          </span>
        </>
      ),
    },
    { id: 'detail', header: t.events.detail, cell: (event) => <EventState event={event} hasStripe={data?.hasStripe === true} /> },
  ];
  return (
    <>
      <FilterBar onClear={clear}>
        <FilterSelect
          label={t.status}
          all={t.anyStatus}
          choices={labelled(OUTCOMES, t.events.outcomes)}
          value={search.outcome}
          onChoose={choose}
        />
      </FilterBar>
      <Card isFlush>
        <Table
          caption={t.events.caption}
          columns={columns}
          rows={data?.events}
          rowId={({ id }) => id}
          error={error}
          onRetry={() => void refetch()}
          empty={t.events.empty}
          onClearFilters={clear}
        />
        <Pagination {...pages} />
      </Card>
    </>
  );
}

/** Outcome of an event, with a replay button if the outcome can still change. */
export function EventState({ event, hasStripe }: { readonly event: StripeEvent; readonly hasStripe: boolean }): JSX.Element {
  const { id, outcome, detail, tries, canReplay } = event;
  return (
    <span className="flex flex-col items-start gap-1">
      <Badge tone={TONES[outcome]}>{t.events.outcomes[outcome]}</Badge>
      {(detail !== '' || tries > 1) && (
        <span className="text-xs wrap-anywhere text-muted">
          {detail} {(tries > 1 || canReplay) && `(${t.events.tries(tries)})`}
        </span>
      )}
      {canReplay && hasStripe && <Replay id={id} />}
    </span>
  );
}

function Replay({ id }: { readonly id: string }): JSX.Element {
  const { mutate, isPending } = useMutation({
    mutationFn: () => call(api.admin.payments.events[':id'].replay.$post({ param: { id } })),
    onSuccess: ({ outcome, detail }) => {
      if (outcome === 'refused' || outcome === 'received') toast('bad', t.events.refused(detail));
      else toast('good', t.events.replayed[outcome]);
    },
    onError: (error) => toast('bad', error.message),
    onSettled: refreshPayments,
  });
  return (
    <Button size="sm" aria-label={`${t.events.replay}: ${id}`} isBusy={isPending} onClick={() => mutate()}>
      {t.events.replay}
    </Button>
  );
}
