import type { JSX } from 'react';
import { accountLabel } from '../../../account-label.ts';
import { adminAudit as t } from '../../../strings/index.ts';
import { Breakable } from '../../../ui/breakable.tsx';
import { Copyable } from '../../../ui/copyable.tsx';
import { DateTime } from '../../../ui/date-time.tsx';
import type { Column } from '../../../ui/table.tsx';
import { actionLabel, Changes } from './entry.tsx';
import type { AuditEntry } from './queries.ts';

/** Columns of the audit log. */
export const AUDIT_COLUMNS: readonly Column<AuditEntry>[] = [
  {
    id: 'time',
    header: t.time,
    isWideOnly: true,
    className: '@min-[43rem]/list:min-w-36 @min-[58rem]/list:whitespace-nowrap',
    cell: ({ createdAtMs }) => <DateTime atMs={createdAtMs} precision="second" mayBreak />,
  },
  {
    id: 'what',
    header: t.what,
    className: '@min-[43rem]/list:min-w-36',
    cell: ({ action, actor, createdAtMs }) => (
      <>
        <span className="block font-medium">{actionLabel(action)}</span>
        <span className="block text-xs text-muted wrap-anywhere">
          <Breakable text={actor} />
        </span>
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
        <Changes changes={entry.changes} />
      </>
    ),
  },
];

function Subject({ entry: { subject, name } }: { readonly entry: AuditEntry }): JSX.Element {
  return (
    <>
      {name !== null && (
        <span className="block wrap-anywhere">
          <Breakable text={accountLabel(name)} />
        </span>
      )}
      <Copyable
        text={subject}
        what={t.id}
        isWhole={name === null}
        className={name === null ? '' : 'max-sm:hidden @max-[58rem]/list:max-w-48 @max-[43rem]/list:max-w-32'}
      />
    </>
  );
}
