import { describe, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { connect } from '../../src/database/connect.ts';
import { migrate } from '../../src/database/migrate.ts';
import { CHECKS } from '../../src/ledger/checks.ts';
import { createMigratedDatabase, postgresUrl } from '../services/postgres.ts';

const STATEMENT_MS = 20_000;

/** Every five minutes the accounts that changed are verified. That must not get slower with the usage of other accounts, or of earlier days. */
describe.skipIf(postgresUrl === undefined)('verifying some accounts', () => {
  test('reads neither the requests of all accounts nor those before the moment', async () => {
    const own = await createMigratedDatabase();
    const { kysely, dialect } = await connect({ databaseUrl: own.url, databasePath: '' }, STATEMENT_MS);
    await migrate(kysely, dialect);
    const scope = { accountIds: ['acct_1'], sinceMs: Date.now() - 60_000, nowMs: Date.now(), longestRequestMs: 1 };
    const plans = await kysely.transaction().execute(async (transaction) => {
      // On an empty table a sequential scan is always the fastest plan.
      await sql`SET LOCAL enable_seqscan = off`.execute(transaction);
      const lines: string[] = [];
      for (const check of CHECKS.filter(({ isPerAccount }) => isPerAccount)) {
        const { rows } = await sql<{ 'QUERY PLAN': string }>`EXPLAIN ${check.statement(scope)}`.execute(transaction);
        lines.push(...rows.map((row) => row['QUERY PLAN'].trim()));
      }
      return lines;
    });
    expect(plans.filter((line) => /Seq Scan on (?:usage|usage_rollups|transfers)\b/u.test(line))).toEqual([]);
    const ofUsage = plans.filter(
      (line, index) => line.startsWith('Index Cond') && /Scan using usage_by_account/u.test(plans[index - 1] ?? ''),
    );
    expect(ofUsage).toHaveLength(3);
    expect(ofUsage.filter((line) => !line.includes('request_id >='))).toEqual([]);
    await kysely.destroy();
    await own.drop();
  });
});
