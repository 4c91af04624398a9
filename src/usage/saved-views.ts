import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { makeId } from '../ids.ts';

/** A page's query string, saved under a name. */
export interface SavedView {
  readonly id: string;
  readonly name: string;
  readonly search: string;
}

/** The pages whose views can be saved. */
export const VIEW_PAGES = ['usage', 'requests'] as const;
export type ViewPage = (typeof VIEW_PAGES)[number];

const VIEWS_MAX = 100;

/** Returns an account's saved views, by name. */
export async function listViews(database: Kysely<Tables>, accountId: string, page: ViewPage): Promise<SavedView[]> {
  return database
    .selectFrom('saved_views')
    .select(['id', 'name', 'search'])
    .where('account_id', '=', accountId)
    .where('page', '=', page)
    .orderBy('name')
    .limit(VIEWS_MAX)
    .execute();
}

/** Saves a view and replaces one of the same name. Refused when there are too many. */
export async function saveView(
  database: Kysely<Tables>,
  accountId: string,
  { page, name, search }: { readonly page: ViewPage; readonly name: string; readonly search: string },
): Promise<'saved' | 'too_many'> {
  const views = await listViews(database, accountId, page);
  if (views.length >= VIEWS_MAX && !views.some((view) => view.name === name)) return 'too_many';
  await database
    .insertInto('saved_views')
    .values({ id: makeId('view'), account_id: accountId, page, name, search, created_at: Date.now() })
    .onConflict((conflict) => conflict.columns(['account_id', 'page', 'name']).doUpdateSet({ search }))
    .execute();
  return 'saved';
}

/** Deletes a view. Returns false when the account has none with this id. */
export async function deleteView(database: Kysely<Tables>, accountId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await database
    .deleteFrom('saved_views')
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}
