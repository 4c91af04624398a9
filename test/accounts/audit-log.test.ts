import { expect, test } from 'bun:test';
import { sql } from 'kysely';
import { Accounts } from '../../src/accounts/accounts.ts';
import { AuditLog } from '../../src/accounts/audit-log.ts';
import { eachStore } from '../database/each-store.ts';

/** More than PostgreSQL accepts as parameters of one statement. */
const KEYS = 70_000;

eachStore((database) => {
  test('filtering by an account finds the changes of all its keys, even of very many deleted ones', async () => {
    const { kysely } = database();
    const account = await new Accounts(kysely).create('ada@example.com', false);
    await sql`INSERT INTO api_keys (id, account_id, name, created_at, deleted_at)
      SELECT 'key_' || n, ${sql.lit(account?.id ?? '')}, 'one of many', 0, 1
      FROM (WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${sql.lit(KEYS)}) SELECT n FROM n) AS n`.execute(
      kysely,
    );
    const subjects = [`key_${KEYS}`, account?.id ?? '', 'key_of_somebody_else', 'key_1'];
    const entries = subjects.map((subject, at) => ({
      id: `audit_${at}`,
      actor: '',
      action: 'key.create',
      subject,
      detail: '{}',
      created_at: at,
    }));
    await kysely.insertInto('audit').values(entries).execute();
    const page = { before: undefined, rowsMax: 10 };
    for (const subject of ['ada@example.com', account?.id]) {
      const { rows } = await new AuditLog(kysely).read({ subject }, page);
      expect(rows.map((row) => row.subject)).toEqual(['key_1', account?.id ?? '', `key_${KEYS}`]);
    }
    const { rows } = await new AuditLog(kysely).read({ subject: 'key_1' }, page);
    expect(rows.map((row) => row.subject)).toEqual(['key_1']);
  });
});
