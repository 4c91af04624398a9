import { expect, test } from 'bun:test';
import { sql } from 'kysely';
import { partsOf } from '../../src/database/parts-of.ts';
import { HistoryKeeper } from '../../src/usage/history-keeper.ts';
import { eachStore } from '../database/each-store.ts';
import { turnsDuring } from '../turns-during.ts';

const ACCOUNTS = 4500;

eachStore((database) => {
  test('other work gets its turn while idle accounts are looked through, however many there are', async () => {
    const { kysely } = database();
    const rest = { status: 'active', is_admin: 0, created_at: 0 } as const;
    const accounts = Array.from({ length: ACCOUNTS }, (_, n) => ({ id: `acct_${n}`, email: `user${n}@example.com`, ...rest }));
    for (const part of partsOf(accounts)) await kysely.insertInto('accounts').values(part).execute();
    const failures: unknown[] = [];
    const keeper = new HistoryKeeper(database(), (_, error) => void failures.push(error));
    expect(await turnsDuring(() => keeper.sweep())).toBeGreaterThanOrEqual(4);
    expect(failures).toEqual([]);
  });

  test('accounts that were closed lately are found without reading all others', async () => {
    const { kysely, dialect } = database();
    const explain = sql.raw(dialect === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN');
    const { rows } = await sql`${explain} SELECT id FROM accounts WHERE closed_at > 1`.execute(kysely);
    expect(rows.map((row) => Object.values(row as object).join(' ')).join('\n')).toContain('accounts_closed');
  });
});
