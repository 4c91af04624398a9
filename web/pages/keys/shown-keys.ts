import type { Key } from './queries.ts';
import type { KeysSearch } from './search.ts';

/** Filters and sorts the keys as the URL says; newest first by default. */
export function shownKeys(keys: readonly Key[], search: KeysSearch): Key[] {
  const words = (search.q ?? '').toLowerCase().split(/\s+/u);
  const found = keys.filter(
    (key) => (search.status === undefined || key.status === search.status) && words.every((word) => textOf(key).includes(word)),
  );
  const sort = search.sort ?? 'created';
  const isAscending = search.direction === undefined ? sort === 'name' : search.direction === 'ascending';
  return found.toSorted((first, second) => (isAscending ? 1 : -1) * compare(SORT_VALUES[sort](first), SORT_VALUES[sort](second)));
}

/** Values to sort by. Amounts become numbers only for sorting, never for display. */
const SORT_VALUES: Readonly<Record<NonNullable<KeysSearch['sort']>, (key: Key) => string | number>> = {
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
