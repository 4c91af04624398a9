import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Download, Plus } from 'lucide-react';
import { useState } from 'react';
import type { JSX } from 'react';
import { isMinorStep, undoStep } from '../../back-button.ts';
import { compact } from '../../search-params.ts';
import { keys as t } from '../../strings/index.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { FilterBar, SearchInput } from '../../ui/filter-bar.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Select } from '../../ui/select.tsx';
import { useZoneInUrl } from '../../zone.ts';
import { apiUrl } from '../../viewed.ts';
import { ColumnMenu } from './column-menu.tsx';
import { HIDDEN_COLUMNS } from './columns.tsx';
import { CreateKey } from './create-key.tsx';
import { FreshSecret } from './fresh-secret.tsx';
import type { NewSecret } from './fresh-secret.tsx';
import { KeyTable } from './key-table.tsx';
import { PlaygroundKey } from './playground-key.tsx';
import { keysQuery } from './queries.ts';
import { readHidden, STATUSES, writeHidden } from './search.ts';
import { shownKeys } from './shown-keys.ts';

const route = getRouteApi('/app/keys');

/** API keys: the list, and the form to create one. */
export function KeysPage(): JSX.Element {
  const zone = useZoneInUrl();
  const { data, error, refetch } = useQuery(keysQuery(zone));
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [fresh, setFresh] = useState<NewSecret>();
  const own = data?.keys.filter((key) => !key.isPlayground);
  const playground = data?.keys.find((key) => key.isPlayground);
  const setForm = (isOpen: boolean): void =>
    void navigate({
      search: (old) => compact({ ...old, create: isOpen ? ('open' as const) : undefined }),
      replace: isMinorStep(),
      resetScroll: false,
    });
  return (
    <>
      <PageHeader title={t.title} text={t.text} actions={<Actions zone={zone} onCreate={() => setForm(true)} />} />
      <Filters />
      <Card isFlush>
        <KeyTable
          keys={own && shownKeys(own, search)}
          hasNoKeys={own?.length === 0}
          error={error}
          onRetry={() => void refetch()}
          onCreate={() => setForm(true)}
        />
      </Card>
      <p className="mt-3 text-xs text-muted">{t.zoneNote(zone)}</p>
      {playground !== undefined && <PlaygroundKey playgroundKey={playground} />}
      {search.create === 'open' && fresh === undefined && (
        <CreateKey
          onClose={() => undoStep(() => setForm(false))}
          onCreated={(created) => {
            undoStep(() => setForm(false));
            setFresh(created);
          }}
        />
      )}
      {fresh !== undefined && <FreshSecret fresh={fresh} onStored={() => setFresh(undefined)} />}
    </>
  );
}

function Actions({ zone, onCreate }: { readonly zone: string; readonly onCreate: () => void }): JSX.Element {
  return (
    <>
      <a href={apiUrl(`/api/keys/csv?${new URLSearchParams({ zone })}`)} download="keys.csv" className={buttonClass({})}>
        <Download aria-hidden="true" />
        {t.csv}
      </a>
      <Button variant="primary" onClick={onCreate}>
        <Plus aria-hidden="true" />
        {t.create}
      </Button>
    </>
  );
}

function Filters(): JSX.Element {
  const { q, status, hide } = route.useSearch();
  const navigate = route.useNavigate();
  const choices = [{ value: 'any' as const, label: t.anyStatus }, ...STATUSES.map((value) => ({ value, label: t.status[value] }))];
  const clear = (): void => void navigate({ search: (old) => compact({ ...old, q: undefined, status: undefined }) });
  return (
    <FilterBar onClear={q === undefined && status === undefined ? undefined : clear}>
      <SearchInput
        label={t.search}
        value={q ?? ''}
        onText={(text) =>
          void navigate({ search: (old) => compact({ ...old, q: text === '' ? undefined : text }), replace: isMinorStep() })
        }
      />
      <Select
        aria-label={t.statusFilter}
        value={status ?? 'any'}
        choices={choices}
        onChoose={(value) => void navigate({ search: (old) => compact({ ...old, status: value === 'any' ? undefined : value }) })}
      />
      <ColumnMenu
        hidden={readHidden(hide, HIDDEN_COLUMNS)}
        onHidden={(hidden) =>
          void navigate({ search: (old) => ({ ...old, hide: writeHidden(hidden) }), replace: true, resetScroll: false })
        }
      />
    </FilterBar>
  );
}
