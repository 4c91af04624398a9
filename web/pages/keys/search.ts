import { compact, readChoice, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';
import { readZone } from '../../zone.ts';

/** States of a key to filter by. */
export const STATUSES = ['active', 'rotating', 'limit_reached', 'expired', 'disabled'] as const;
/** Columns to sort by. */
export const SORTS = ['name', 'today', 'month', 'total', 'used', 'created', 'expires'] as const;

/** Search parameters of the list of keys. */
export interface KeysSearch {
  readonly q?: string;
  readonly status?: (typeof STATUSES)[number];
  readonly sort?: (typeof SORTS)[number];
  readonly direction?: 'ascending' | 'descending';
  /** Hidden columns, separated by dots; `none` shows all. */
  readonly hide?: string;
  /** Set while the form for a new key is open. */
  readonly create?: 'open';
  readonly zone?: string;
}

/** Reads the page's search parameters. Invalid ones are left out. */
export function readKeysSearch(raw: RawSearch): KeysSearch {
  return compact({
    q: readText(raw, 'q'),
    status: readChoice(raw, 'status', STATUSES),
    sort: readChoice(raw, 'sort', SORTS),
    direction: readChoice(raw, 'direction', ['ascending', 'descending']),
    hide: readText(raw, 'hide'),
    create: readChoice(raw, 'create', ['open']),
    zone: readZone(raw),
  });
}

/** Parses the hidden columns. */
export function readHidden(hide: string | undefined, byDefault: readonly string[]): ReadonlySet<string> {
  return new Set(hide === undefined ? byDefault : hide.split('.'));
}

/** Formats the hidden columns for the URL. */
export function writeHidden(hidden: ReadonlySet<string>): string {
  const ids = [...hidden].filter((id) => id !== 'none');
  return ids.length === 0 ? 'none' : ids.join('.');
}
