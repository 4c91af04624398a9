import type { Kysely } from 'kysely';
import { readSettings } from '../accounts/key-settings.ts';
import type { Tables } from '../database/tables.ts';
import type { SumsFilter } from './sums.ts';

/** The tags of every key an account has or had, by key id. */
export type KeyTags = ReadonlyMap<string, readonly string[]>;

/** Reads the current tags of keys. Tagging a key applies to all its past usage too. */
export async function readTags(database: Kysely<Tables>, accountId: string): Promise<KeyTags> {
  const rows = await database.selectFrom('api_keys').selectAll().where('account_id', '=', accountId).execute();
  return new Map(rows.map((row) => [row.id, readSettings(row).tags ?? []]));
}

/** A filter that may name tags. */
export interface TagFilter extends SumsFilter {
  /** Only requests whose key has one of these tags. */
  readonly tag?: readonly string[] | undefined;
}

/** Replaces tags in a filter by the keys that have them. */
export function byKeys<Filter extends TagFilter>({ tag, ...filter }: Filter, tags: KeyTags): Omit<Filter, 'tag'> {
  if (tag === undefined) return filter;
  const tagged = [...tags].filter(([, ofKey]) => ofKey.some((each) => tag.includes(each))).map(([id]) => id);
  return { ...filter, key: filter.key === undefined ? tagged : tagged.filter((id) => filter.key?.includes(id)) };
}
