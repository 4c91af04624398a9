import { expect, test } from 'bun:test';
import { sql } from 'kysely';
import { CHECKS } from '../../src/ledger/checks.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import { eachStore } from '../database/each-store.ts';

/** In one list, a rule that asks for them three times would exceed what PostgreSQL takes. */
const ACCOUNTS = 25_000;

eachStore((database) => {
  test('any number of accounts can be verified', async () => {
    const accountIds = Array.from({ length: ACCOUNTS }, (_, n) => `acct_${n}`);
    const checks = await verifyLedger(database().kysely, { accountIds, longestRequestMs: 1 });
    expect(checks.filter(({ ok }) => !ok)).toEqual([]);
    expect(checks.length).toBeGreaterThan(0);
  });

  test('open holds are added up once, not once for every wallet', async () => {
    const { kysely, dialect } = database();
    const rule = CHECKS.find(({ name }) => name.startsWith('R2 '));
    const statement = rule?.statement({ accountIds: undefined, sinceMs: undefined, nowMs: 0, longestRequestMs: 1 });
    if (statement === undefined) throw new Error('There is no rule R2.');
    const explain = sql.raw(dialect === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN');
    const { rows } = await sql`${explain} ${statement}`.execute(kysely);
    const plan = rows.map((row) => Object.values(row as object).join(' ')).join('\n');
    expect(plan).toContain('holds');
    expect(plan).not.toMatch(/CORRELATED|SubPlan/u);
  });
});
