import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import type { JSX } from 'react';
import { compact } from '../../search-params.ts';
import { keys as t } from '../../strings/index.ts';
import { Button } from '../../ui/button.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { Table } from '../../ui/table.tsx';
import type { Column } from '../../ui/table.tsx';
import { BulkBar } from './bulk-bar.tsx';
import { COLUMNS, HIDDEN_COLUMNS } from './columns.tsx';
import type { Key } from './queries.ts';
import { readHidden, SORTS } from './search.ts';
import { sortOf } from './shown-keys.ts';

const route = getRouteApi('/app/keys');

interface KeyTableProps {
  readonly keys: readonly Key[] | undefined;
  readonly hasNoKeys: boolean;
  readonly error: Error | null;
  readonly onRetry: () => void;
  readonly onCreate: () => void;
}

/** List of keys with checkboxes for bulk actions. */
export function KeyTable({ keys, hasNoKeys, error, onRetry, onCreate }: KeyTableProps): JSX.Element {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const hidden = readHidden(search.hide, HIDDEN_COLUMNS);
  const shownIds = keys?.map((key) => key.id) ?? [];
  // Bulk actions do not affect keys that a filter hides.
  const chosenKeys = keys?.filter(({ id }) => chosen.has(id)) ?? [];
  const shown = COLUMNS.filter((column) => !hidden.has(column.id)).map((column) =>
    search.hide === undefined ? column : alwaysVisible(column),
  );
  const columns = [checkboxColumn({ shownIds, chosen, setChosen }), ...shown];
  const isFiltered = search.q !== undefined || search.status !== undefined;
  return (
    <>
      {chosenKeys.length > 0 && <BulkBar keys={chosenKeys} onDone={() => setChosen(new Set())} />}
      <Table
        caption={t.title}
        columns={columns}
        rows={keys}
        rowId={(key) => key.id}
        error={error}
        onRetry={onRetry}
        sort={sortOf(search)}
        onSort={({ by, direction }) => {
          const column = SORTS.find((each) => each === by);
          if (column !== undefined)
            void navigate({ search: (old) => ({ ...old, sort: column, direction }), replace: true, resetScroll: false });
        }}
        empty={{
          ...t.empty,
          action: (
            <Button isChange onClick={onCreate}>
              {t.create}
            </Button>
          ),
        }}
        onClearFilters={
          isFiltered && !hasNoKeys
            ? () => void navigate({ search: (old) => compact({ ...old, q: undefined, status: undefined }) })
            : undefined
        }
      />
    </>
  );
}

/** Keeps a column that the user chose visible, even if the list then scrolls. */
function alwaysVisible({ minWidth, isWideOnly = minWidth !== undefined, ...column }: Column<Key>): Column<Key> {
  return { ...column, isWideOnly };
}

interface Selection {
  readonly shownIds: readonly string[];
  readonly chosen: ReadonlySet<string>;
  readonly setChosen: (chosen: ReadonlySet<string>) => void;
}

function checkboxColumn({ shownIds, chosen, setChosen }: Selection): Column<Key> {
  const count = shownIds.filter((id) => chosen.has(id)).length;
  const toggle = (id: string): void => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  };
  return {
    id: 'choose',
    header: (
      <Checkbox
        label={t.chooseAll}
        isLabelHidden
        isChecked={count > 0 && count === shownIds.length}
        isMixed={count > 0 && count < shownIds.length}
        disabled={shownIds.length === 0}
        onCheck={(isOn) => setChosen(new Set(isOn ? shownIds : []))}
      />
    ),
    isNarrow: true,
    className: 'w-8',
    cell: ({ id, name }) => <Checkbox label={t.choose(name)} isLabelHidden isChecked={chosen.has(id)} onCheck={() => toggle(id)} />,
  };
}
