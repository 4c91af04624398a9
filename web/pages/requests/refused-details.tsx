import { useQuery } from '@tanstack/react-query';
import type { JSX, ReactNode } from 'react';
import { keyLabel, type Names } from '../../names.ts';
import { formatCount } from '../../numbers.ts';
import { requests as t } from '../../strings/index.ts';
import { Banner } from '../../ui/banner.tsx';
import { Copyable } from '../../ui/copyable.tsx';
import { DateTime } from '../../ui/date-time.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Facts } from '../../ui/facts.tsx';
import { LoadingOrError } from '../../ui/loading-or-error.tsx';
import { refusedOneQuery, type Refused } from './queries.ts';
import { RefusedStatus } from './refused-table.tsx';

/** Details of a refused request, with the error that its client received. */
export function RefusedDetails({ id, names }: { readonly id: string; readonly names: Names }): JSX.Element {
  const { data, error, refetch } = useQuery(refusedOneQuery(id));
  if (data === undefined) return <LoadingOrError error={error} onRetry={() => void refetch()} className="h-64" />;
  const [refused] = data.refused;
  if (refused === undefined) return <EmptyState title={t.detail.missing} />;
  return <RefusedParts refused={refused} keyName={keyLabel(refused.keyId, names)} />;
}

/** Sections about a refused request. */
export function RefusedParts({ refused, keyName }: { readonly refused: Refused; readonly keyName: string }): JSX.Element {
  const { status, atMs, errorCode, message, param, model, keyId, isStreaming, others } = refused;
  const facts: readonly (readonly [string, ReactNode])[] = [
    [t.refused.field, param === null ? null : <code key="param">{param}</code>],
    [t.detail.asks, model === null ? t.refused.notKept : <Copyable key="model" text={model} what={t.modelId} />],
    [
      t.detail.key,
      <span key="key" className="inline-flex max-w-full flex-wrap items-center gap-x-2">
        {keyName} <Copyable text={keyId} what={t.detail.whats.key} />
      </span>,
    ],
    [t.columns.stream, isStreaming ? t.refused.streams.yes : t.refused.streams.no],
  ];
  return (
    <div className="flex flex-col gap-7">
      <div className="flex flex-wrap items-center gap-x-5 gap-y-2 text-sm">
        <RefusedStatus status={status} />
        <DateTime atMs={atMs} precision="second" mayBreak hasZone />
        {others > 0 && <span className="text-muted">{t.refused.others(formatCount(others))}</span>}
      </div>
      <Banner tone="warn" title={t.detail.errorTitle(errorCode, String(status))}>
        {message}
      </Banner>
      <Facts facts={facts} />
    </div>
  );
}
