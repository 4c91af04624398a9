import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { JSX, ReactNode } from 'react';
import { compact } from '../../../search-params.ts';
import { adminAudit as t } from '../../../strings/index.ts';
import { Card } from '../../../ui/card.tsx';
import { Copyable } from '../../../ui/copyable.tsx';
import { DateTime } from '../../../ui/date-time.tsx';
import { FilterBar, SearchInput } from '../../../ui/filter-bar.tsx';
import { FilterSelect, plainChoices } from '../../../ui/filter-select.tsx';
import { PageHeader } from '../../../ui/page-header.tsx';
import { Pagination } from '../../../ui/pagination.tsx';
import { Table } from '../../../ui/table.tsx';
import type { Column } from '../../../ui/table.tsx';
import { usePages } from '../../../use-pages.ts';
import { auditQuery, type AuditEntry } from './queries.ts';
import type { AuditSearch } from './search.ts';

const route = getRouteApi('/app/admin/audit');

const COLUMNS: readonly Column<AuditEntry>[] = [
  {
    id: 'time',
    header: t.time,
    cell: ({ createdAtMs }) => <DateTime atMs={createdAtMs} precision="second" mayBreak />,
    className: 'max-sm:w-28',
  },
  {
    id: 'what',
    header: t.what,
    cell: ({ action, actor }) => (
      <>
        <span className="block font-medium">{action}</span>
        <span className="block text-xs text-muted break-all">{actor}</span>
      </>
    ),
  },
  { id: 'about', header: t.about, isWideOnly: true, cell: (entry) => <Subject entry={entry} /> },
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

/** Who changed what, in all accounts. */
export function AuditPage(): JSX.Element {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error, refetch } = useQuery(auditQuery(search));
  const go = (change: { readonly [Name in keyof AuditSearch]?: string | undefined }): void =>
    void navigate({ search: (old) => compact({ ...old, before: undefined, ...change }), replace: true });
  const pages = usePages({ at: search.before, next: data?.next, onGo: (before) => go({ before }) });
  const isFiltered = search.action !== undefined || search.actor !== undefined || search.subject !== undefined;
  const clear = isFiltered ? () => go({ action: undefined, actor: undefined, subject: undefined }) : undefined;
  return (
    <>
      <PageHeader title={t.title} text={t.text} />
      <FilterBar onClear={clear}>
        <SearchInput label={t.subject} value={search.subject ?? ''} onText={(text) => go({ subject: given(text) })} />
        <SearchInput label={t.actor} value={search.actor ?? ''} onText={(text) => go({ actor: given(text) })} />
        <FilterSelect
          label={t.what}
          all={t.action}
          choices={plainChoices(data?.actions ?? [])}
          value={search.action}
          onChoose={(action) => go({ action })}
        />
      </FilterBar>
      <Card isFlush>
        <Table
          caption={t.caption}
          columns={COLUMNS}
          rows={data?.entries}
          rowId={({ id }) => id}
          error={error}
          onRetry={() => void refetch()}
          empty={t.empty}
          onClearFilters={clear}
        />
        <Pagination {...pages} />
      </Card>
    </>
  );
}

function given(text: string): string | undefined {
  return text.trim() === '' ? undefined : text.trim();
}

function Subject({ entry: { subject, name } }: { readonly entry: AuditEntry }): JSX.Element {
  return (
    <>
      {name !== null && <span className="block break-all">{name}</span>}
      <Copyable text={subject} what={t.id} />
    </>
  );
}

function Changes({ entry: { changes } }: { readonly entry: AuditEntry }): JSX.Element {
  return (
    <ul className="text-xs">
      {changes.map(({ field, before, after }) => (
        <li key={field} className="break-words">
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
  if (typeof value === 'number' && field.endsWith('Ms')) return <DateTime atMs={value} />;
  return typeof value === 'object' ? value.join(', ') || t.none : String(value);
}
