import type { JSX } from 'react';
import { ChangedValue } from '../../changed-value.tsx';
import { changes as words, key as t } from '../../strings/index.ts';
import { Card } from '../../ui/card.tsx';
import { DateTime } from '../../ui/date-time.tsx';
import type { KeyPageContent } from '../keys/queries.ts';

type Entry = KeyPageContent['audit'][number];
type Change = Entry['changes'][number];

const ACTIONS: Readonly<Record<string, string>> = t.history.actions;
const FIELDS: Readonly<Record<string, string>> = words.fields;

/** Every change to the key: who made it, when, and each field before and after. */
export function History({ content: { audit } }: { readonly content: KeyPageContent }): JSX.Element {
  return (
    <Card title={t.history.title} hint={t.history.hint}>
      <ol className="divide-y divide-line">
        {audit.map((entry) => (
          <li key={entry.id} className="py-3 text-sm first:pt-0 last:pb-0">
            <p className="flex flex-wrap gap-x-2">
              <span className="font-medium">{ACTIONS[entry.action] ?? entry.action}</span>
              <span className="text-muted">
                {t.history.by} {entry.actor}
              </span>
              <span className="text-muted sm:ml-auto">
                <DateTime atMs={entry.createdAtMs} precision="second" />
              </span>
            </p>
            <Changes changes={entry.changes} isNew={entry.action === 'key.create'} />
          </li>
        ))}
      </ol>
    </Card>
  );
}

function Changes({ changes, isNew }: { readonly changes: readonly Change[]; readonly isNew: boolean }): JSX.Element {
  return (
    <dl className="mt-1.5 grid gap-x-4 gap-y-1 sm:grid-cols-[12rem_1fr]">
      {changes.map((change) => (
        <div key={change.field} className="contents">
          <dt className="text-muted">{FIELDS[change.field] ?? change.field}</dt>
          <dd className="min-w-0 break-words">
            {!isNew && (
              <>
                <span className="text-muted">
                  <ChangedValue field={change.field} value={change.before} />
                </span>
                <span aria-label={t.history.became} role="img" className="mx-2">
                  →
                </span>
              </>
            )}
            <ChangedValue field={change.field} value={change.after} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
