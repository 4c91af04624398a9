import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { JSX } from 'react';
import { isMinorStep } from '../../../back-button.ts';
import { compact, nonBlank, type ChangeOf } from '../../../search-params.ts';
import { adminAudit as t } from '../../../strings/index.ts';
import { Card } from '../../../ui/card.tsx';
import { FilterBar, SearchInput } from '../../../ui/filter-bar.tsx';
import { FilterSelect } from '../../../ui/filter-select.tsx';
import { PageHeader } from '../../../ui/page-header.tsx';
import { Pagination } from '../../../ui/pagination.tsx';
import type { Choice } from '../../../ui/select.tsx';
import { Table } from '../../../ui/table.tsx';
import { usePages } from '../../../use-pages.ts';
import { AUDIT_COLUMNS } from './columns.tsx';
import { actionLabel } from './entry.tsx';
import { auditQuery } from './queries.ts';
import type { AuditSearch } from './search.ts';

const route = getRouteApi('/app/admin/audit');

/** Audit log of all accounts. */
export function AuditPage(): JSX.Element {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error, refetch } = useQuery(auditQuery(search));
  const go = (change: ChangeOf<AuditSearch>): void =>
    void navigate({ search: (old) => compact({ ...old, before: undefined, ...change }), replace: isMinorStep() });
  const pages = usePages({ at: search.before, next: data?.next, onGo: (before) => go({ before }) });
  const isFiltered = search.action !== undefined || search.actor !== undefined || search.subject !== undefined;
  const clear = isFiltered ? () => go({ action: undefined, actor: undefined, subject: undefined }) : undefined;
  return (
    <>
      <PageHeader title={t.title} text={t.text} />
      <FilterBar onClear={clear}>
        <SearchInput label={t.subject} value={search.subject ?? ''} onText={(text) => go({ subject: nonBlank(text) })} />
        <SearchInput label={t.actor} value={search.actor ?? ''} onText={(text) => go({ actor: nonBlank(text) })} />
        <FilterSelect
          label={t.what}
          all={t.action}
          choices={actionChoices(data?.actions ?? [])}
          value={search.action}
          onChoose={(action) => go({ action })}
        />
      </FilterBar>
      <Card isFlush>
        <Table
          caption={t.caption}
          columns={AUDIT_COLUMNS}
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

function actionChoices(actions: readonly string[]): Choice<string>[] {
  const choices = actions.map((action) => ({ value: action, label: actionLabel(action) }));
  return choices.toSorted((one, other) => one.label.localeCompare(other.label));
}
