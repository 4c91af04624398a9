import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';

/** What has changed since a server last looked. */
interface Changes {
  readonly counter: bigint;
  /** The accounts that have changed themselves, or their keys; undefined if it may be any. */
  readonly accountIds: readonly string[] | undefined;
}

/** Marks a change that concerns all accounts, such as one of a plan. */
const ALL_ACCOUNTS = '';
/** With more changed accounts at once, forgetting all is cheaper than reading who they are. */
const CHANGED_MAX = 1000;

/** Returns what has changed since a counter that was returned before, in any process; undefined if nothing has. */
export async function changesSince(database: Kysely<Tables>, counter: bigint | undefined): Promise<Changes | undefined> {
  const { counter: current } = await database.selectFrom('changes').select('counter').executeTakeFirstOrThrow();
  if (current === counter) return undefined;
  // A counter that has fallen means another database, such as a restored backup.
  if (counter === undefined || current < counter) return { counter: current, accountIds: undefined };
  const rows = await database
    .selectFrom('changed_accounts')
    .select('account_id')
    .where('counter', '>', counter)
    .orderBy('counter')
    .limit(CHANGED_MAX)
    .execute();
  const accountIds = rows.map((row) => row.account_id);
  return { counter: current, accountIds: rows.length === CHANGED_MAX || accountIds.includes(ALL_ACCOUNTS) ? undefined : accountIds };
}
