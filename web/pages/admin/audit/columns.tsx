import type { JSX, ReactNode } from 'react';
import { adminAudit as t } from '../../../strings/index.ts';
import { Breakable } from '../../../ui/breakable.tsx';
import { Copyable } from '../../../ui/copyable.tsx';
import { DateTime } from '../../../ui/date-time.tsx';
import type { Column } from '../../../ui/table.tsx';
import type { AuditEntry } from './queries.ts';

/** Columns of the audit log. */
export const AUDIT_COLUMNS: readonly Column<AuditEntry>[] = [
  {
    id: 'time',
    header: t.time,
    isWideOnly: true,
    className: '@min-[43rem]/list:min-w-36',
    cell: ({ createdAtMs }) => <DateTime atMs={createdAtMs} precision="second" mayBreak />,
  },
  {
    id: 'what',
    header: t.what,
    cell: ({ action, actor, createdAtMs }) => (
      <>
        <span className="block font-medium">{action}</span>
        <span className="block text-xs text-muted wrap-anywhere">{actor}</span>
        <span className="block text-xs text-muted sm:hidden">
          <DateTime atMs={createdAtMs} precision="second" mayBreak />
        </span>
      </>
    ),
  },
  { id: 'about', header: t.about, isWideOnly: true, className: 'min-w-40', cell: (entry) => <Subject entry={entry} /> },
  {
    id: 'changes',
    header: t.changes,
    cell: (entry) => (
      <>
        <span className="block sm:hidden">
          <Subject entry={entry} />
        </span>
        <Changes entry={entry} />
      </>
    ),
  },
];

function Subject({ entry: { subject, name } }: { readonly entry: AuditEntry }): JSX.Element {
  return (
    <>
      {name !== null && (
        <span className="block wrap-anywhere">
          <Breakable text={name} />
        </span>
      )}
      <Copyable text={subject} what={t.id} isWhole className={name === null ? '' : 'max-sm:hidden'} />
    </>
  );
}

function Changes({ entry: { changes } }: { readonly entry: AuditEntry }): JSX.Element {
  return (
    <ul className="text-xs">
      {changes.map(({ field, before, after }) => (
        <li key={field} className="wrap-anywhere">
          <span className="text-muted">{field}:</span>{' '}
          {before !== null && (
            <>
              <Value field={field} value={before} /> →{' '}
            </>
          )}
          <Value field={field} value={after} />
        </li>
      ))}
    </ul>
  );
}

type ChangedValue = AuditEntry['changes'][number]['after'];

function Value({ field, value }: { readonly field: string; readonly value: ChangedValue }): ReactNode {
  if (value === null) return t.none;
  if (typeof value === 'number' && field.endsWith('Ms')) return <DateTime atMs={value} mayBreak />;
  return typeof value === 'object' ? value.join(', ') || t.none : String(value);
}
