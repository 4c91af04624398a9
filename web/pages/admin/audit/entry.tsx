import type { JSX } from 'react';
import { ChangedValue } from '../../../changed-value.tsx';
import { adminAudit as t } from '../../../strings/index.ts';
import type { AuditEntry } from './queries.ts';

const ACTIONS: Readonly<Record<string, string>> = t.actions;
const FIELDS: Readonly<Record<string, string>> = t.fields;

/** What an entry's action is called. */
export const actionLabel = (action: string): string => ACTIONS[action] ?? action;

/** What an entry changed, field by field. */
export function Changes({ changes }: Pick<AuditEntry, 'changes'>): JSX.Element {
  return (
    <ul className="text-xs">
      {changes.map(({ field, before, after }) => (
        <li key={field} className="wrap-anywhere">
          <span className="text-muted">{FIELDS[field] ?? field}:</span>{' '}
          {before !== null && (
            <>
              <ChangedValue field={field} value={before} /> →{' '}
            </>
          )}
          <ChangedValue field={field} value={after} />
        </li>
      ))}
    </ul>
  );
}
