import { Link } from '@tanstack/react-router';
import type { JSX, ReactNode } from 'react';
import { keyLabel, type Names } from '../../names.ts';
import { formatCount, formatMs } from '../../numbers.ts';
import { requests as t } from '../../strings/index.ts';
import { formatDateTime } from '../../time.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Breakable } from '../../ui/breakable.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { useZone } from '../../zone.ts';
import { Money } from '../../ui/money.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import type { Request } from './queries.ts';
import type { RequestsSearch } from './search.ts';

interface RequestTableProps<Row extends Request> {
  readonly requests: readonly Row[] | undefined;
  readonly error: unknown;
  readonly onRetry: () => void;
  /** Column for the key or account of each request. */
  readonly ownerColumn: Column<Row>;
  /** Next step, shown if there are no requests. */
  readonly action: ReactNode;
  readonly openId: string | undefined;
  readonly onOpen: (id: string) => void;
  readonly onClearFilters: (() => void) | undefined;
}

/** Requests, newest first. Each opens its details. */
export function RequestTable<Row extends Request>({ requests, ownerColumn, action, onOpen, ...rest }: RequestTableProps<Row>): JSX.Element {
  return (
    <Table
      caption={t.caption}
      columns={columnsFor(ownerColumn)}
      rows={requests}
      rowId={({ id }) => id}
      empty={{ ...t.empty, action }}
      onOpen={({ id }) => onOpen(id)}
      {...rest}
    />
  );
}

/** Returns the column for the key of each request. */
export function keyColumn(names: Names): Column<Pick<Request, 'keyId'>> {
  return {
    id: 'key',
    header: t.columns.key,
    minWidth: 'large',
    cell: ({ keyId }) => (
      // With the direction of the name, its end is cut off and not its beginning.
      <span dir="auto" className="block max-w-32 truncate text-left">
        {keyLabel(keyId, names)}
      </span>
    ),
  };
}

function columnsFor<Row extends Request>(ownerColumn: Column<Row>): Column<Row>[] {
  const { columns } = t;
  return [
    {
      id: 'time',
      header: columns.time,
      className: 'max-sm:w-24',
      cell: (row) => (
        <RowLink atMs={row.atMs} to={{ request: row.id }}>
          <Status request={row} />
        </RowLink>
      ),
    },
    { id: 'status', header: columns.status, isWideOnly: true, cell: (row) => <Status request={row} /> },
    { id: 'model', header: columns.model, cell: (row) => <Model request={row} /> },
    ownerColumn,
    { id: 'tokens', header: columns.tokens, align: 'right', minWidth: 'medium', cell: (row) => <Tokens request={row} /> },
    {
      id: 'cost',
      header: columns.cost,
      align: 'right',
      cell: ({ costUsd, durationMs }) => (
        <>
          <Money usd={costUsd} />
          <span className="block text-xs text-muted sm:hidden">
            <Time ms={durationMs} />
          </span>
        </>
      ),
    },
    {
      id: 'firstToken',
      header: columns.firstToken,
      align: 'right',
      minWidth: 'large',
      cell: ({ firstTokenMs }) => <Time ms={firstTokenMs} />,
    },
    { id: 'duration', header: columns.duration, align: 'right', minWidth: 'large', cell: ({ durationMs }) => <Time ms={durationMs} /> },
    { id: 'stream', header: columns.stream, minWidth: 'full', cell: ({ isStreaming }) => (isStreaming ? t.streamed : '–') },
    {
      id: 'finish',
      header: columns.finish,
      minWidth: 'full',
      cell: ({ finishReason, errorCode }) => <BreakableCode code={finishReason ?? errorCode ?? '–'} />,
    },
  ];
}

/** A finish reason or error code. It wraps between words, or a long one would be cut off at the edge of the table. */
export function BreakableCode({ code }: { readonly code: string }): JSX.Element {
  return (
    <code className="font-mono text-xs">
      <Breakable text={code} />
    </code>
  );
}

interface RowLinkProps {
  readonly atMs: number;
  /** Search parameters that open its details. */
  readonly to: Pick<RequestsSearch, 'view' | 'request'>;
  readonly children: ReactNode;
}

/** Time of a request as a link to its details, which also works in a new tab. On phones, its status follows. */
export function RowLink({ atMs, to, children }: RowLinkProps): JSX.Element {
  return (
    <>
      <Link
        to="."
        search={(old) => ({ ...old, ...to })}
        resetScroll={false}
        className="link sm:whitespace-nowrap"
        onClick={(event) => event.stopPropagation()}
      >
        <RowTime atMs={atMs} />
      </Link>
      <span className="mt-1 block sm:hidden">{children}</span>
    </>
  );
}

/** Time without the year, which the range shows. The tooltip has the full date. */
function RowTime({ atMs }: { readonly atMs: number }): JSX.Element {
  const zone = useZone();
  const parts = { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit' } as const;
  const text = new Intl.DateTimeFormat('en-GB', { ...parts, timeZone: zone, hourCycle: 'h23' }).format(atMs);
  return (
    <time dateTime={new Date(atMs).toISOString()} title={`${formatDateTime(atMs, zone, 'second')} ${zone}`} className="figures">
      {text}
    </time>
  );
}

const TONES: Readonly<Record<string, Tone>> = { completed: 'good', client_gone: 'neutral', recovered: 'warn', failed: 'bad' };

/** Outcome of a request. */
export function Status({ request: { outcome } }: { readonly request: Pick<Request, 'outcome'> }): JSX.Element {
  const words: Readonly<Record<string, string>> = t.statuses;
  return <Badge tone={TONES[outcome] ?? 'neutral'}>{words[outcome] ?? outcome}</Badge>;
}

/** Requested model and, if its name differs, the model that served it. */
function Model({ request: { model, servedModel } }: { readonly request: Request }): ReactNode {
  const hasOtherName = servedModel !== '' && servedModel !== model && !model.endsWith(`/${servedModel}`);
  return (
    <span className="block max-w-28 sm:max-w-60" title={hasOtherName ? `${model} → ${servedModel}` : model}>
      {/* Pressing the copy button must not open the row. */}
      <span className="flex items-center gap-1">
        <span className="max-sm:wrap-anywhere sm:truncate">
          <Breakable text={model} />
        </span>
        <span role="presentation" className="max-sm:hidden" onClick={(event) => event.stopPropagation()}>
          <CopyButton text={model} what={`${t.modelId} ${model}`} />
        </span>
      </span>
      {hasOtherName && <span className="block text-xs text-muted max-sm:wrap-anywhere sm:truncate">→ {servedModel}</span>}
    </span>
  );
}

function Tokens({ request }: { readonly request: Request }): JSX.Element {
  const { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens } = request;
  return (
    <span className="figures whitespace-nowrap" title={request.isEstimated ? t.estimated : undefined}>
      {request.isEstimated && '≈ '}
      {formatCount(inputTokens + cacheWriteTokens)} <span className="text-muted">/ {formatCount(cachedInputTokens)} /</span>{' '}
      {formatCount(outputTokens)}
    </span>
  );
}

function Time({ ms }: { readonly ms: number | null }): JSX.Element {
  return <span className="figures whitespace-nowrap">{ms === null ? '–' : formatMs(ms)}</span>;
}
