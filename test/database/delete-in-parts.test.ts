import { expect, test } from 'bun:test';
import { sql, type Kysely, type KyselyPlugin } from 'kysely';
import { pruneDeliveries } from '../../src/alerts/deliveries.ts';
import { Carried } from '../../src/carried/carried.ts';
import { deleteOldAttempts } from '../../src/dashboard/rate-limits.ts';
import type { OpenDatabase } from '../../src/database/connect.ts';
import type { Tables } from '../../src/database/tables.ts';
import { idAt } from '../../src/ids.ts';
import { Contents, deleteContents } from '../../src/usage/contents.ts';
import { Refusals } from '../../src/usage/refusals.ts';
import { turnsDuring } from '../turns-during.ts';
import { eachStore } from './each-store.ts';

const ROWS = 1201;
const PART_MAX = 500;
const DAY_MS = 86_400_000;
const NOW_MS = Date.now();
/** Old enough to be deleted under every rule. */
const OLD_MS = NOW_MS - 400 * DAY_MS;

type Table = 'carried' | 'auth_rate_limits' | 'alert_deliveries' | 'refusals' | 'request_contents';

interface Deletion {
  readonly table: Table;
  readonly values: string;
  readonly delete: (database: OpenDatabase) => Promise<unknown>;
}

const fail = (): never => {
  throw new Error('it failed');
};

const DELETIONS: readonly Deletion[] = [
  {
    table: 'carried',
    values: `(account_id, tool_call_id, value, created_at) SELECT 'acct_1', 'call_' || n, 'x', ${OLD_MS}`,
    delete: (database) => new Carried(database, fail).prune(NOW_MS),
  },
  {
    table: 'auth_rate_limits',
    values: `(name, count, window_ends_at, strikes) SELECT 'try ' || n, 1, ${OLD_MS}, 0`,
    delete: ({ kysely }) => deleteOldAttempts(kysely, NOW_MS),
  },
  {
    table: 'alert_deliveries',
    values: `(id, account_id, kind, channel, title, payload, status, tries, next_try_at, created_at)
      SELECT '${idAt('delivery', OLD_MS)}' || n, 'acct_1', 'test', 'mail', '', '{}', 'sent', 1, ${OLD_MS}, ${OLD_MS}`,
    delete: ({ kysely }) => pruneDeliveries(kysely, NOW_MS),
  },
  {
    table: 'refusals',
    values: `(request_id, account_id, key_id, status, error_code, message, is_streaming, others)
      SELECT '${idAt('req', OLD_MS)}' || n, 'acct_1', 'key_1', 429, '', '', 0, 0`,
    delete: (database) => new Refusals(database, fail).prune(idAt('req', NOW_MS)),
  },
  ...[
    (database: OpenDatabase) => new Contents(database, fail).prune(NOW_MS),
    ({ kysely }: OpenDatabase) => deleteContents(kysely, 'acct_1'),
  ].map((each) => ({
    table: 'request_contents' as const,
    values: `(request_id, account_id, request, answer, is_cut, delete_at) SELECT 'req_' || n, 'acct_1', '{}', '', 0, ${OLD_MS}`,
    delete: each,
  })),
];

/** Background deletions run in small parts, because on the embedded database a statement blocks its thread and all writers. */
eachStore((database) => {
  test.each(DELETIONS)('old rows of $table are deleted in parts, with pauses for other work', async ({ table, values, delete: work }) => {
    const { kysely, dialect } = database();
    await sql`INSERT INTO accounts (id, email, status, is_admin, created_at) VALUES ('acct_1', 'ada@example.com', 'active', 0, 0)
      ON CONFLICT DO NOTHING`.execute(kysely);
    const numbers = sql.raw(
      `FROM (WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${ROWS}) SELECT n FROM n) AS n`,
    );
    await sql`INSERT INTO ${sql.table(table)} ${sql.raw(values)} ${numbers}`.execute(kysely);
    const parts: number[] = [];
    const watched = kysely.withPlugin(countDeleted(parts));
    expect(await turnsDuring(() => work({ kysely: watched, dialect }))).toBeGreaterThan(1);
    expect(parts.reduce((sum, part) => sum + part, 0)).toBe(ROWS);
    expect(Math.max(...parts)).toBeLessThanOrEqual(PART_MAX);
    expect(await countRows(kysely, table)).toBe(0);
  });
});

function countDeleted(parts: number[]): KyselyPlugin {
  return {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      if (result.numAffectedRows !== undefined) parts.push(Number(result.numAffectedRows));
      return result;
    },
  };
}

async function countRows(kysely: Kysely<Tables>, table: Table): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`SELECT COUNT(*) AS count FROM ${sql.table(table)}`.execute(kysely);
  return Number(rows[0]?.count);
}
