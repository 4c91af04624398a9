import { Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { adminAccount as t, billing, keys } from '../../../strings/index.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Card } from '../../../ui/card.tsx';
import { Copyable } from '../../../ui/copyable.tsx';
import { DateTime, RelativeTime } from '../../../ui/date-time.tsx';
import { Money } from '../../../ui/money.tsx';
import { Table } from '../../../ui/table.tsx';
import type { Column } from '../../../ui/table.tsx';
import { PAYMENT_TONES, PaidAmount } from '../../billing/payments-card.tsx';
import { kindLabel, STATEMENT_COLUMNS, TimeOnPhone } from '../../billing/statement-card.tsx';
import { KeyStatus } from '../../keys/key-status.tsx';
import { AUDIT_COLUMNS } from '../audit/columns.tsx';
import type { AccountContent } from './queries.ts';

type Key = AccountContent['keys'][number];
type Line = AccountContent['statement'][number];
type Payment = AccountContent['payments'][number];

interface ListProps {
  readonly content: AccountContent;
}

const KEY_COLUMNS: readonly Column<Key>[] = [
  {
    id: 'name',
    header: keys.head.name,
    cell: ({ id, name, status, rotatingUntilMs }) => (
      <>
        <span className="block font-medium wrap-anywhere">{name}</span>
        <Copyable text={id} what={t.keys.id} className="max-sm:hidden @max-[68rem]/list:max-w-48 @max-[58rem]/list:max-w-44" />
        <span className="mt-1 block sm:hidden">
          <KeyStatus status={status} rotatingUntilMs={rotatingUntilMs} />
        </span>
      </>
    ),
  },
  { id: 'secret', header: keys.head.secret, minWidth: 'medium', cell: (key) => <Secrets {...key} /> },
  {
    id: 'status',
    header: keys.head.status,
    isWideOnly: true,
    cell: ({ status, rotatingUntilMs }) => <KeyStatus status={status} rotatingUntilMs={rotatingUntilMs} />,
  },
  {
    id: 'used',
    header: keys.head.used,
    minWidth: 'large',
    cell: ({ usedAtMs }) => (usedAtMs === null ? <span className="text-muted">{keys.neverUsed}</span> : <RelativeTime atMs={usedAtMs} />),
  },
  { id: 'today', header: keys.head.today, align: 'right', isWideOnly: true, cell: ({ spentTodayUsd }) => <Money usd={spentTodayUsd} /> },
  { id: 'month', header: keys.head.month, align: 'right', cell: ({ spentMonthUsd }) => <Money usd={spentMonthUsd} /> },
  { id: 'total', header: keys.head.total, align: 'right', minWidth: 'large', cell: ({ spentTotalUsd }) => <Money usd={spentTotalUsd} /> },
];

export function KeysCard({ content }: ListProps): JSX.Element {
  return (
    <Card title={t.keys.title} hint={t.keys.hint} isFlush>
      <Table caption={t.keys.caption} columns={KEY_COLUMNS} rows={content.keys} rowId={({ id }) => id} empty={t.keys.empty} />
    </Card>
  );
}

function Secrets({ secrets, isPlayground }: Key): JSX.Element {
  if (isPlayground) return <span className="text-muted">{t.keys.playground}</span>;
  return (
    <>
      {secrets.map((shown) => (
        <code key={shown} className="block font-mono text-xs whitespace-nowrap">
          {shown}
        </code>
      ))}
    </>
  );
}

/** The statement as the owner sees it, but without links to requests: their details belong to the owner. */
const LINE_COLUMNS: readonly Column<Line>[] = STATEMENT_COLUMNS.map((column) =>
  column.id === 'what' ? { ...column, cell: (line) => <Description line={line} /> } : column,
);

export function StatementCard({ content }: ListProps): JSX.Element {
  return (
    <Card title={t.statement.title} isFlush>
      <Table
        caption={billing.statement.caption}
        columns={LINE_COLUMNS}
        rows={content.statement}
        rowId={({ id }) => id}
        empty={t.statement.empty}
      />
    </Card>
  );
}

function Description({ line }: { readonly line: Line }): JSX.Element {
  return (
    <>
      <span className="block">{kindLabel(line)}</span>
      {line.kind === 'usage' ? (
        <Copyable text={line.id} what={billing.statement.requestId} className="max-sm:hidden @max-[58rem]/list:max-w-48" />
      ) : (
        <span className="block text-xs wrap-anywhere text-muted">{line.reason}</span>
      )}
      <TimeOnPhone atMs={line.atMs} />
    </>
  );
}

const PAYMENT_COLUMNS: readonly Column<Payment>[] = [
  { id: 'time', header: billing.payments.time, cell: ({ createdAtMs }) => <DateTime atMs={createdAtMs} mayBreak /> },
  {
    id: 'what',
    header: billing.payments.what,
    cell: ({ id, purpose }) => (
      <>
        <span className="block">{billing.payments.purposes[purpose]}</span>
        <Copyable text={id} what={t.payments.id} className="max-sm:hidden @max-[43rem]/list:max-w-36" />
      </>
    ),
  },
  { id: 'amount', header: billing.payments.amount, align: 'right', cell: (payment) => <PaidAmount payment={payment} /> },
  {
    id: 'status',
    header: billing.payments.status,
    cell: ({ status, reason }) => (
      <>
        <Badge tone={PAYMENT_TONES[status]}>{t.payments.statuses[status]}</Badge>
        {reason !== '' && <span className="block text-xs text-muted">{reason}</span>}
      </>
    ),
  },
];

export function PaymentsCard({ content }: ListProps): JSX.Element {
  return (
    <Card title={t.payments.title} isFlush>
      <Table
        caption={billing.payments.caption}
        columns={PAYMENT_COLUMNS}
        rows={content.payments}
        rowId={({ id }) => id}
        empty={t.payments.empty}
      />
    </Card>
  );
}

export function AuditCard({ content: { account, audit } }: ListProps): JSX.Element {
  const all = (
    <Link to="/admin/audit" search={{ subject: account.id }} className="link text-sm">
      {t.audit.all}
    </Link>
  );
  return (
    <Card title={t.audit.title} actions={all} isFlush>
      <Table caption={t.audit.caption} columns={AUDIT_COLUMNS} rows={audit} rowId={({ id }) => id} empty={t.audit.empty} />
    </Card>
  );
}
