import type { Sort } from '../../ui/table-head.tsx';
import type { Key } from './queries.ts';
import type { KeysSearch } from './search.ts';

type SortColumn = NonNullable<KeysSearch['sort']>;

/** Returns the order that the URL asks for; newest first by default. */
export function sortOf({ sort: by = 'created', direction }: KeysSearch): Sort & { readonly by: SortColumn } {
  return { by, direction: direction ?? (by === 'name' ? 'ascending' : 'descending') };
}

/** Filters and sorts the keys as the URL says. */
export function shownKeys(keys: readonly Key[], search: KeysSearch): Key[] {
  const words = (search.q ?? '').toLowerCase().split(/\s+/u);
  const found = keys.filter(
    (key) => (search.status === undefined || key.status === search.status) && words.every((word) => textOf(key).includes(word)),
  );
  const { by, direction } = sortOf(search);
  const sign = direction === 'ascending' ? 1 : -1;
  return found.toSorted((first, second) => sign * compare(SORT_VALUES[by](first), SORT_VALUES[by](second)));
}

/** Values to sort by. Amounts become numbers only for sorting, never for display. */
const SORT_VALUES: Readonly<Record<SortColumn, (key: Key) => string | number>> = {
  name: (key) => key.name.toLowerCase(),
  today: (key) => Number(key.spentTodayUsd),
  month: (key) => Number(key.spentMonthUsd),
  total: (key) => Number(key.spentTotalUsd),
  used: (key) => key.usedAtMs ?? 0,
  created: (key) => key.createdAtMs,
  expires: (key) => key.expiresAtMs ?? Number.MAX_SAFE_INTEGER,
};

function textOf({ name, id, secrets, tags }: Key): string {
  return [name, id, ...secrets.map(({ shown }) => shown), ...tags].join(' ').toLowerCase();
}

function compare(first: string | number, second: string | number): number {
  if (first === second) return 0;
  return first < second ? -1 : 1;
}
