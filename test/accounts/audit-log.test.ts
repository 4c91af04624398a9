import { expect, test } from 'bun:test';
import { sql, type Kysely } from 'kysely';
import { Accounts } from '../../src/accounts/accounts.ts';
import { AuditLog } from '../../src/accounts/audit-log.ts';
import { COMMAND_LINE, DELETED_USER, recordAudit } from '../../src/accounts/audit.ts';
import { disableKeys } from '../../src/accounts/disable-keys.ts';
import type { Tables } from '../../src/database/tables.ts';
import { eachStore } from '../database/each-store.ts';

/** More than PostgreSQL accepts as parameters of one statement. */
const KEYS = 70_000;

/** Creates keys, deleted ones with names that a test can guess. */
async function insertKeys(kysely: Kysely<Tables>, accountId: string, count: number, deletedAt: number | null = null): Promise<void> {
  await sql`INSERT INTO api_keys (id, account_id, name, created_at, deleted_at)
    SELECT ${deletedAt === null ? 'key_live_' : 'key_'} || n, ${accountId}, 'one of many', 0, CAST(${deletedAt} AS BIGINT)
    FROM (WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${sql.lit(count)}) SELECT n FROM n) AS n`.execute(
    kysely,
  );
}

eachStore((database) => {
  test('filtering by an account finds the changes of all its keys, even of very many deleted ones', async () => {
    const { kysely } = database();
    const account = await new Accounts(kysely).create('ada@example.com', false);
    await insertKeys(kysely, account?.id ?? '', KEYS, 1);
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

  test('filtering by who made a change finds them as they are shown, in whichever case', async () => {
    const { kysely } = database();
    const actors = ['grace@example.com', COMMAND_LINE, DELETED_USER];
    await kysely.transaction().execute(async (transaction) => {
      for (const actor of actors) await recordAudit(transaction, { actor, action: 'backup', subject: actor, changes: [] });
    });
    for (const actor of ['Grace@Example.com', 'Command line', 'Deleted user']) {
      const { rows } = await new AuditLog(kysely).read({ actor, action: 'backup' }, { before: undefined, rowsMax: 10 });
      expect(rows.map((row) => row.subject)).toEqual([actor.toLowerCase()]);
    }
  });

  test('disabling very many keys at once is recorded for each', async () => {
    const { kysely } = database();
    const account = await new Accounts(kysely).create('grace@example.com', false);
    await insertKeys(kysely, account?.id ?? '', 20_000);
    const disabled = await kysely.transaction().execute((transaction) => disableKeys(transaction, account?.id ?? '', 'test'));
    expect(disabled).toBe(20_000);
    const { count } = await kysely
      .selectFrom('audit')
      .select(({ fn }) => fn.countAll<bigint>().as('count'))
      .where('action', '=', 'key.update')
      .executeTakeFirstOrThrow();
    expect(count).toBe(20_000n);
  }, 120_000);
});
