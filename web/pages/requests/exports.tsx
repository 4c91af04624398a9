import { useMutation, useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { api, call } from '../../api.ts';
import { formatBytes, formatPercent } from '../../numbers.ts';
import { queryClient } from '../../queries.ts';
import { requests as t } from '../../strings/index.ts';
import { formatSpan } from '../../time.ts';
import { Badge } from '../../ui/badge.tsx';
import type { Tone } from '../../ui/badge.tsx';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Count } from '../../ui/count.tsx';
import { DateTime } from '../../ui/date-time.tsx';
import { Table } from '../../ui/table.tsx';
import type { Column } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.tsx';
import { apiUrl } from '../../viewed.ts';
import { exportsQuery, isInProgress } from './queries.ts';
import type { Export } from './queries.ts';

const TONES: Readonly<Record<Export['state'], Tone>> = {
  waiting: 'neutral',
  running: 'accent',
  done: 'good',
  failed: 'bad',
  dropped: 'neutral',
};

const COLUMNS: readonly Column<Export>[] = [
  { id: 'file', header: t.exports.file, className: 'min-w-48', cell: (job) => <File job={job} /> },
  { id: 'state', header: t.exports.state, className: 'min-w-36', cell: (job) => <State job={job} /> },
  { id: 'rows', header: t.exports.rows, align: 'right', cell: ({ rows }) => <Count value={rows} /> },
  { id: 'size', header: t.exports.size, align: 'right', cell: ({ bytes }) => <span className="figures">{formatBytes(bytes)}</span> },
  {
    id: 'expires',
    header: t.exports.expires,
    cell: ({ expiresAtMs }) => (expiresAtMs === null ? '–' : <DateTime atMs={expiresAtMs} />),
  },
  { id: 'actions', header: <span className="sr-only">{t.exports.actions}</span>, align: 'right', cell: (job) => <Actions job={job} /> },
];

/** Exported files, if there are any. */
export function Exports(): JSX.Element | null {
  const { data, error, refetch } = useQuery(exportsQuery);
  if (error === null && (data === undefined || data.exports.length === 0)) return null;
  return (
    <Card title={t.exports.title} hint={t.exports.hint} isFlush className="mb-6">
      <Table
        caption={t.exports.caption}
        columns={COLUMNS}
        rows={data?.exports}
        rowId={({ id }) => id}
        error={error}
        onRetry={() => void refetch()}
        empty={t.exports.empty}
      />
    </Card>
  );
}

function titleOf({ format, fromMs, toMs, zone }: Export): string {
  return `${format.toUpperCase()}, ${formatSpan({ fromMs, toMs }, zone)}`;
}

function File({ job }: { readonly job: Export }): JSX.Element {
  return (
    <>
      <span className="block font-medium">{titleOf(job)}</span>
      <span className="block max-w-md text-xs wrap-anywhere text-muted">
        {job.filters.length === 0 ? t.exports.all : job.filters.map(({ name, value }) => `${name}=${value}`).join(', ')}
      </span>
    </>
  );
}

function State({ job }: { readonly job: Export }): JSX.Element {
  if (job.state === 'running')
    return (
      <label className="flex flex-col gap-1 text-xs">
        {t.exports.states.running}, {formatPercent(job.part)}
        <progress value={job.part} max={1} className="h-1.5 w-full accent-accent" />
      </label>
    );
  return (
    <>
      <Badge tone={TONES[job.state]}>{t.exports.states[job.state]}</Badge>
      {job.problem !== null && <span className="mt-1 block max-w-xs text-xs text-bad">{job.problem}</span>}
    </>
  );
}

function Actions({ job }: { readonly job: Export }): JSX.Element {
  const isRunning = isInProgress(job);
  const action = isRunning ? t.exports.cancel : t.exports.delete;
  const { mutate, isPending } = useMutation({
    mutationFn: () => call(api.requests.exports[':id'].$delete({ param: { id: job.id } })),
    onSuccess: async () => {
      toast('good', isRunning ? t.exports.cancelled : t.exports.deleted);
      await queryClient.invalidateQueries({ queryKey: exportsQuery.queryKey });
    },
    onError: (error) => toast('bad', error.message),
  });
  return (
    <span className="inline-flex flex-wrap justify-end gap-2">
      {job.state === 'done' && (
        <a
          href={apiUrl(`/api/requests/exports/${job.id}/file`)}
          download
          aria-label={`${t.exports.download}: ${titleOf(job)}`}
          className={buttonClass({ size: 'sm' })}
        >
          {t.exports.download}
        </a>
      )}
      <Button size="sm" variant="quiet" isChange aria-label={`${action}: ${titleOf(job)}`} isBusy={isPending} onClick={() => mutate()}>
        {action}
      </Button>
    </span>
  );
}
