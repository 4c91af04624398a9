import { sql, type Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { HOUSE_ACCOUNTS } from './credit.ts';

/** More accounts than this are not read at once. */
const ACCOUNTS_MAX = 100_000;

/**
 * Returns the accounts that money was given to or taken from since then, other than by charges, whichever process did it: a page of the
 * dashboard, a command, another node. Reads one range of an index for each of the gate's own accounts. What goes to revenue has no index
 * by time: charges are noted by the process that makes them, and the price of a plan moves together with the credit it includes. That of
 * a plan without credit is left to the command.
 */
export async function readMovedAccounts(database: Kysely<Tables>, sinceMs: number): Promise<string[]> {
  const house = sql.join(HOUSE_ACCOUNTS.map((name) => sql.lit(name)));
  const { rows } = await sql<{ wallet: string }>`
    SELECT credit AS wallet FROM transfers WHERE debit IN (${house}) AND created_at >= ${sinceMs}
    UNION SELECT debit FROM transfers WHERE credit IN (${house}) AND credit <> 'revenue' AND created_at >= ${sinceMs}
    LIMIT ${ACCOUNTS_MAX}`.execute(database);
  return rows.map(({ wallet }) => wallet.slice('wallet:'.length));
}

/** Returns the accounts with running requests of other processes. */
export async function readAccountsOfOthers(database: Kysely<Tables>, nodeId: string): Promise<string[]> {
  const rows = await database.selectFrom('holds').select('account_id').distinct().where('node_id', '<>', nodeId).execute();
  return rows.map((row) => row.account_id);
}
