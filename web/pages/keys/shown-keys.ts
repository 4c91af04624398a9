import type { Key } from './queries.ts';
import type { KeysSearch } from './search.ts';

/** The keys that the address asks for, in its order; newest first where it asks for none. */
export function shownKeys(keys: readonly Key[], search: KeysSearch): Key[] {
  const words = (search.q ?? '').toLowerCase().split(/\s+/u);
  const found = keys.filter(
    (key) => (search.status === undefined || key.status === search.status) && words.every((word) => textOf(key).includes(word)),
  );
  const sort = search.sort ?? 'created';
  const isUp = search.direction === undefined ? sort === 'name' : search.direction === 'ascending';
  return found.toSorted((first, second) => (isUp ? 1 : -1) * compare(VALUES[sort](first), VALUES[sort](second)));
}

/** Amounts become numbers to be put in order, and are not shown from them. */
const VALUES: Readonly<Record<NonNullable<KeysSearch['sort']>, (key: Key) => string | number>> = {
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
