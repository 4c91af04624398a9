import { useQuery } from '@tanstack/react-query';
import type { JSX, ReactNode } from 'react';
import { isNotFound } from '../../api.ts';
import { keyLabel, type Names } from '../../names.ts';
import { formatCount, formatMs } from '../../numbers.ts';
import { filters, requests as t } from '../../strings/index.ts';
import { Banner } from '../../ui/banner.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Copyable } from '../../ui/copyable.tsx';
import { DateTime } from '../../ui/date-time.tsx';
import { Drawer } from '../../ui/drawer.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Money } from '../../ui/money.tsx';
import { DrawerSection } from '../../ui/drawer-section.tsx';
import { LoadingOrError } from '../../ui/loading-or-error.tsx';
import { Content } from './content.tsx';
import { toCurl } from './curl.ts';
import { Equation } from './equation.tsx';
import { detailQuery, type Detail } from './queries.ts';
import { RefusedDetails } from './refused-details.tsx';
import { Status } from './table.tsx';
import { Timeline } from './timeline.tsx';

interface RequestDrawerProps {
  readonly id: string | undefined;
  readonly isRefused: boolean;
  readonly names: Names;
  readonly onClose: () => void;
}

/** Details of one request, admitted or refused. Its URL is permanent and can be shared within the account. */
export function RequestDrawer({ id, isRefused, names, onClose }: RequestDrawerProps): JSX.Element {
  const Shown = isRefused ? RefusedDetails : Details;
  return (
    <RequestFrame id={id} onClose={onClose}>
      {id !== undefined && <Shown id={id} names={names} />}
    </RequestFrame>
  );
}

interface RequestFrameProps {
  readonly id: string | undefined;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Drawer with the request id in its heading. */
export function RequestFrame({ id, onClose, children }: RequestFrameProps): JSX.Element {
  return (
    <Drawer
      isOpen={id !== undefined}
      onClose={onClose}
      title={t.detail.title}
      documentTitle={id}
      text={id !== undefined && <Copyable text={id} what={t.detail.whats.request} />}
    >
      {children}
    </Drawer>
  );
}

function Details({ id, names }: { readonly id: string; readonly names: Names }): JSX.Element {
  const { data: detail, error, refetch } = useQuery(detailQuery(id));
  // The id may come from a log, which does not say whether the request was admitted. So also look among the refused ones.
  if (isNotFound(error)) return <RefusedDetails id={id} names={names} />;
  if (detail === undefined) return <LoadingOrError error={error} onRetry={() => void refetch()} className="h-96" />;
  return (
    <RequestParts detail={detail} keyName={keyLabel(detail.keyId, names)} isOwn>
      <DrawerSection title={t.detail.again}>
        <p className="mb-2 text-xs text-muted">{t.detail.againText}</p>
        <CodeBlock snippets={[{ id: 'curl', label: 'cURL', code: toCurl(detail) }]} />
      </DrawerSection>
      <DrawerSection title={t.detail.content}>
        <Content detail={detail} />
      </DrawerSection>
    </RequestParts>
  );
}

interface RequestPartsProps {
  readonly detail: Detail;
  readonly keyName: string;
  /** False if an operator views the request of another account. */
  readonly isOwn: boolean;
  readonly children?: ReactNode;
}

/** Sections about a request, followed by `children`. */
export function RequestParts({ detail, keyName, isOwn, children }: RequestPartsProps): JSX.Element {
  return (
    <div className="flex flex-col gap-7">
      <Summary detail={detail} />
      {detail.error !== null && (
        <Banner tone="bad" title={t.detail.errorTitle(detail.error.code, String(detail.error.status ?? ''))}>
          {detail.error.meaning}
        </Banner>
      )}
      <DrawerSection title={t.detail.why}>
        <Equation detail={detail} isOwn={isOwn} />
      </DrawerSection>
      <DrawerSection title={t.detail.timeline}>
        <Timeline detail={detail} />
      </DrawerSection>
      <DrawerSection title={t.detail.facts}>
        <RequestFacts detail={detail} keyName={keyName} />
      </DrawerSection>
      {detail.headers.length > 0 && (
        <DrawerSection title={t.detail.headers}>
          <p className="mb-2 text-xs text-muted">{t.detail.headersText}</p>
          <CodeBlock
            snippets={[{ id: 'headers', label: 'HTTP', code: detail.headers.map(({ name, value }) => `${name}: ${value}`).join('\n') }]}
          />
        </DrawerSection>
      )}
      {children}
    </div>
  );
}

function Summary({ detail }: { readonly detail: Detail }): JSX.Element {
  return (
    <div className="flex flex-wrap items-center gap-x-5 gap-y-2 text-sm">
      <Status request={detail} />
      <Money usd={detail.costUsd} className="text-xl font-medium" />
      <span className="text-muted">
        {detail.firstTokenMs === null
          ? t.detail.ended(formatMs(detail.durationMs))
          : t.detail.took(formatMs(detail.firstTokenMs), formatMs(detail.durationMs))}
      </span>
      <DateTime atMs={detail.atMs} precision="second" mayBreak hasZone />
    </div>
  );
}

function RequestFacts({ detail, keyName }: Pick<RequestPartsProps, 'detail' | 'keyName'>): JSX.Element {
  const served =
    detail.servedModel === '' ? (
      '–'
    ) : (
      <span key="served" className="inline-flex max-w-full flex-wrap items-center gap-x-2">
        <Copyable text={detail.servedModel} what={t.modelId} /> {detail.provider}
      </span>
    );
  const facts: readonly (readonly [string, ReactNode])[] = [
    [t.detail.asks, <Copyable key="model" text={detail.model} what={t.modelId} />],
    [t.detail.served, served],
    [
      t.detail.key,
      <span key="key" className="inline-flex max-w-full flex-wrap items-center gap-x-2">
        {keyName} <Copyable text={detail.keyId} what={t.detail.whats.key} />
      </span>,
    ],
    [filters.endUser, detail.endUser === null ? '–' : <Copyable key="end user" text={detail.endUser} what="end user" />],
    [t.columns.stream, detail.isStreaming ? t.filters.yes : t.filters.no],
    [t.columns.finish, detail.finishReason ?? '–'],
    [t.detail.reasoning, formatCount(detail.reasoningTokens)],
  ];
  return <Facts facts={facts} />;
}
