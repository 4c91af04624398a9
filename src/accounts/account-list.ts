import { sql, type Expression, type ExpressionBuilder, type Kysely, type SqlBool } from 'kysely';
import { toPage, type PageOf, type PageRequest } from '../database/pages.ts';
import type { Tables } from '../database/tables.ts';
import { idAt, timeOf } from '../ids.ts';
import { asNanos, type Nanos } from '../ledger/money.ts';
import { accountStatus, type AccountStatus } from './accounts.ts';
import { shownParts } from './key-secret.ts';

/** Which accounts to list. An undefined field matches everything. */
export interface AccountFilter {
  /** Part of the address; the id of the account, a key or its customer at a payment provider; or the shown part of a key. */
  readonly text?: string | undefined;
  readonly status?: AccountStatus | undefined;
}

/** An account as listed. */
export interface ListedAccount {
  readonly id: string;
  readonly email: string;
  readonly status: AccountStatus;
  readonly isAdmin: boolean;
  /** Negative for a debt. */
  readonly available: Nanos;
  readonly held: Nanos;
  /** The name of its plan. */
  readonly plan: string | undefined;
  readonly createdAtMs: number;
  readonly lastRequestAtMs: number | undefined;
}

/** Returns a page of accounts, newest first, and where the next page begins. Ids grow with time, so rows are ordered by id. */
export async function listAccounts(
  database: Kysely<Tables>,
  { text, status }: AccountFilter,
  { before, rowsMax }: PageRequest,
): Promise<PageOf<ListedAccount>> {
  let query = database
    .selectFrom('accounts')
    .innerJoin('wallets', 'wallets.account_id', 'accounts.id')
    .leftJoin('subscriptions', (join) =>
      join.onRef('subscriptions.account_id', '=', 'accounts.id').on('subscriptions.status', '<>', 'ended'),
    )
    .leftJoin('plans', 'plans.id', 'subscriptions.plan_id')
    .select(['accounts.id', 'accounts.email', 'accounts.status', 'accounts.closed_at', 'accounts.is_admin', 'accounts.created_at'])
    .select(['wallets.credits_posted', 'wallets.debits_posted', 'wallets.debits_pending', 'plans.name as plan']);
  if (before !== undefined) query = query.where('accounts.id', '<', before);
  if (status !== undefined) query = query.where('accounts.closed_at', status === 'closed' ? 'is not' : 'is', null);
  if (status === 'active' || status === 'suspended') query = query.where('accounts.status', '=', status);
  if (text !== undefined) query = query.where((where) => isMeant(where, text));
  const found = await query
    .orderBy('accounts.id', 'desc')
    .limit(rowsMax + 1)
    .execute();
  const { rows, next } = toPage(found, rowsMax, ({ id }) => id);
  const lastRequests = await readLastRequests(
    database,
    rows.map(({ id }) => id),
  );
  return {
    rows: rows.map((row) => ({
      id: row.id,
      email: row.email,
      status: accountStatus(row),
      isAdmin: row.is_admin === 1n,
      available: asNanos(row.credits_posted - row.debits_posted - row.debits_pending),
      held: asNanos(row.debits_pending),
      plan: row.plan ?? undefined,
      createdAtMs: Number(row.created_at),
      lastRequestAtMs: lastRequests.get(row.id),
    })),
    next,
  };
}

/** Counts the accounts that were created in a span. Goes by their ids, which grow with time: all other accounts are not read. */
export async function countNewAccounts(
  database: Kysely<Tables>,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<number> {
  const { count } = await database
    .selectFrom('accounts')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('id', '>=', idAt('acct', fromMs))
    .where('id', '<', idAt('acct', toMs))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Matches part of an address or, depending on how the text begins, an id or a key. */
function isMeant(where: ExpressionBuilder<Tables, 'accounts'>, text: string): Expression<SqlBool> {
  const pattern = `%${text.toLowerCase().replaceAll(/[\\%_]/gu, String.raw`\$&`)}%`;
  const meanings: Expression<SqlBool>[] = [sql<SqlBool>`accounts.email LIKE ${pattern} ESCAPE '\\'`, where('accounts.id', '=', text)];
  const keys = where.selectFrom('api_keys').select('api_keys.account_id');
  if (/^(?:key|play)_/u.test(text)) meanings.push(where('accounts.id', 'in', keys.where('api_keys.id', '=', text)));
  if (text.startsWith('sk-')) meanings.push(where('accounts.id', 'in', keys.where('api_keys.id', 'in', keysShownAs(where, text))));
  if (text.startsWith('cus_'))
    meanings.push(where('accounts.id', 'in', where.selectFrom('payment_customers').select('account_id').where('customer_ref', '=', text)));
  return where.or(meanings);
}

/** Matches keys by the start of a secret, optionally with an ellipsis and its last four characters. Case matters. */
function keysShownAs(where: ExpressionBuilder<Tables, 'accounts'>, text: string) {
  const [start = '', lastFour = ''] = text.split(/…|\.{3}/u);
  const { prefix } = shownParts(start);
  return where
    .selectFrom('key_secrets')
    .select('key_secrets.key_id')
    .where(sql<SqlBool>`substr(prefix, 1, ${sql.lit(prefix.length)}) = ${prefix}`)
    .$if(lastFour !== '', (query) => query.where('last_four', '=', lastFour));
}

/** Returns when each of these accounts made its last request: its newest usage row, which is last in an index. */
async function readLastRequests(database: Kysely<Tables>, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  if (ids.length === 0) return new Map();
  const rows = await database
    .selectFrom('accounts')
    .select('id')
    .select((columns) =>
      columns
        .selectFrom('usage')
        .select('request_id')
        .whereRef('usage.account_id', '=', 'accounts.id')
        .orderBy('request_id', 'desc')
        .limit(1)
        .as('request_id'),
    )
    .where('id', 'in', ids)
    .execute();
  return new Map(rows.flatMap(({ id, request_id: requestId }) => (requestId === null ? [] : [[id, timeOf(requestId)] as const])));
}
