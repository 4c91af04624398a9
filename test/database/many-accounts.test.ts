import { beforeAll, expect, test } from 'bun:test';
import { sql, type Kysely } from 'kysely';
import { countNewAccounts } from '../../src/accounts/account-list.ts';
import { AuditLog } from '../../src/accounts/audit-log.ts';
import { hashCode, normalizeCode } from '../../src/accounts/promo-code-text.ts';
import { readRedemptions } from '../../src/accounts/promo-list.ts';
import { findBonusSource, redeem } from '../../src/accounts/redeem.ts';
import { exportAccountData } from '../../src/dashboard/people/belongings.ts';
import { PlanDesk } from '../../src/dashboard/routes/plan-desk.ts';
import type { OpenDatabase } from '../../src/database/connect.ts';
import type { Tables } from '../../src/database/tables.ts';
import { idAt } from '../../src/ids.ts';
import type { PaymentDesk } from '../../src/payments/desk.ts';
import { openMoneyIn } from '../../src/payments/open.ts';
import { NO_PAYMENTS } from '../dashboard/open-dashboard.ts';
import { eachStore } from './each-store.ts';
import { plansOf } from './plans-of.ts';

const ACCOUNTS = 5000;
/** Far below the number of accounts, and above what any of this needs. */
const ROWS_READ_MAX = 500;
const FIRST_MS = Date.UTC(2026, 0, 1);
const CODE = 'WELCOME-WELCOME-WELCOME';
const PAGE = { before: undefined, rowsMax: 50 };
const accountId = idOf(1000);

/** Something that people or operators ask for, and the table that must not be read as a whole for it. */
interface Reading {
  readonly what: string;
  readonly table: keyof Tables;
  readonly read: (kysely: Kysely<Tables>) => Promise<unknown>;
  /** How the embedded database reads the table, with what it sorts. */
  readonly plan: readonly string[];
}

const SORT = 'USE TEMP B-TREE FOR ORDER BY';
const USE_BEFORE = { before: `400-${idOf(400)}-1`, rowsMax: 50 };

const READINGS: readonly Reading[] = [
  {
    what: 'a page of the entries of an action',
    table: 'audit',
    read: (kysely) => new AuditLog(kysely).read({ action: 'sign-up' }, PAGE),
    plan: ['SEARCH audit USING INDEX audit_by_action (action=?)'],
  },
  {
    what: 'a page of the entries of an action by one person',
    table: 'audit',
    read: (kysely) => new AuditLog(kysely).read({ actor: 'person7', action: 'sign-up' }, PAGE),
    plan: ['SEARCH audit USING INDEX audit_by_actor (actor=?)'],
  },
  {
    what: 'a page of the entries of an action about one account',
    table: 'audit',
    read: (kysely) => new AuditLog(kysely).read({ subject: accountId, action: 'sign-up' }, PAGE),
    plan: ['SEARCH audit USING INDEX audit_by_subject (subject=?)', SORT],
  },
  {
    what: 'the list of actions',
    table: 'audit',
    read: (kysely) => new AuditLog(kysely).actions(),
    plan: ['SEARCH audit USING COVERING INDEX audit_by_action', 'SEARCH audit USING COVERING INDEX audit_by_action (action>?)'],
  },
  {
    what: 'a page of the uses of a code',
    table: 'promo_redemptions',
    read: (kysely) => readRedemptions(kysely, { codeId: 'promo_1' }, USE_BEFORE),
    plan: ['SEARCH promo_redemptions USING INDEX promo_redemptions_by_code (code_id=? AND (created_at,account_id,n)<(?,?,?))'],
  },
  {
    what: 'a page of the uses of a campaign',
    table: 'promo_redemptions',
    read: (kysely) => readRedemptions(kysely, { campaign: 'welcome' }, USE_BEFORE),
    plan: ['SEARCH promo_redemptions USING INDEX promo_redemptions_by_campaign (campaign=? AND (created_at,account_id,n)<(?,?,?))'],
  },
  {
    what: 'the bonus of a payment',
    table: 'promo_redemptions',
    read: (kysely) => findBonusSource(kysely, accountId, 'pay_1'),
    plan: ['SEARCH promo_redemptions USING INDEX promo_redemptions_by_account (account_id=?)'],
  },
  {
    what: 'the number of new accounts',
    table: 'accounts',
    read: (kysely) => countNewAccounts(kysely, { fromMs: FIRST_MS + 10, toMs: FIRST_MS + 20 }),
    plan: ['SEARCH accounts USING COVERING INDEX sqlite_autoindex_accounts_1 (id>? AND id<?)'],
  },
  {
    what: 'the page of plans',
    table: 'subscriptions',
    read: async (kysely) => new PlanDesk(kysely, await openDesk(kysely)).show(accountId),
    // What it sorts are the plans.
    plan: [SORT, 'SEARCH subscriptions USING INDEX subscriptions_one_each (account_id=?)'],
  },
];

eachStore((database) => {
  beforeAll(() => addAccounts(database()));

  test.each(READINGS)('$what does not read all of $table', async ({ table, read, plan }) => {
    const { kysely, dialect } = database();
    if (dialect === 'postgres') return expect(await countRowsRead(kysely, table, read)).toBeLessThan(ROWS_READ_MAX);
    const plans = await plansOf(kysely, read);
    expect(plans.filter((each) => each === SORT || each.split(' ')[1] === table)).toEqual([...plan]);
  });

  test("an account's own export does not read the changes of all accounts", async () => {
    const { kysely, dialect } = database();
    if (dialect === 'postgres') return expect(await countRowsRead(kysely, 'audit', exportOwn)).toBeLessThan(ROWS_READ_MAX);
    const plans = await plansOf(kysely, exportOwn);
    expect(plans.filter((each) => each.includes(' audit '))).toEqual(['SEARCH audit USING INDEX audit_by_subject (subject=?)']);
  });

  test('a code is redeemed without reading its other uses', async () => {
    const { kysely, dialect } = database();
    expect(await redeemAgain(kysely)).toMatchObject({ why: 'already_used' });
    // PostgreSQL counts rows only within a transaction, and this begins one.
    if (dialect === 'postgres') return;
    const plans = await plansOf(kysely, redeemAgain);
    expect(plans.filter((each) => each.includes(' promo_redemptions '))).toEqual([
      'SEARCH promo_redemptions USING COVERING INDEX sqlite_autoindex_promo_redemptions_1 (campaign=? AND account_id=?)',
      'SEARCH promo_redemptions USING COVERING INDEX sqlite_autoindex_promo_redemptions_2 (campaign=? AND email_hash=?)',
    ]);
  });
});

function exportOwn(kysely: Kysely<Tables>): Promise<unknown> {
  return exportAccountData(kysely, { accountId, email: 'person1000' });
}

function redeemAgain(kysely: Kysely<Tables>): Promise<unknown> {
  return redeem(kysely, { accountId, code: CODE, nowMs: FIRST_MS });
}

async function openDesk(database: Kysely<Tables>): Promise<PaymentDesk> {
  return (await openMoneyIn({ database, payments: NO_PAYMENTS, url: 'http://gate.test' })).desk;
}

function idOf(n: number): string {
  return `${idAt('acct', FIRST_MS + n)}${n}`;
}

/** Adds accounts that each signed up, have a plan and used the same code. */
async function addAccounts({ kysely, dialect }: OpenDatabase): Promise<void> {
  const ids = JSON.stringify(Array.from({ length: ACCOUNTS }, (_, n) => [n, idOf(n)]));
  const source = dialect === 'sqlite' ? sql`json_each(${ids})` : sql`jsonb_array_elements(${ids}::JSONB)`;
  const each = sql`(SELECT CAST(value ->> 0 AS BIGINT) AS n, value ->> 1 AS id FROM ${source} AS listed) AS listed`;
  const code = {
    id: 'promo_1',
    code_hash: hashCode(normalizeCode(CODE) ?? ''),
    shown: 'WEL…',
    campaign: 'welcome',
    kind: 'credit',
  } as const;
  const plan = { id: 'pro', name: 'Pro', price: 0, period: 'month', included: 0, is_offered: 1, origin: 'command', created_at: 0 } as const;
  await kysely
    .insertInto('promo_codes')
    .values({ ...code, amount: 1, used: 0, max_uses: 9, per_account: 1, created_at: 0 })
    .execute();
  await kysely.insertInto('plans').values(plan).execute();
  for (const statement of [
    sql`INSERT INTO accounts (id, email, status, is_admin, created_at) SELECT id, 'person' || n, 'active', 0, n FROM ${each}`,
    sql`INSERT INTO wallets (account_id, credits_posted, debits_posted, debits_pending) SELECT id, 0, 0, 0 FROM ${each}`,
    sql`INSERT INTO audit (id, actor, action, subject, detail, created_at) SELECT 'a' || n, 'person' || n, 'sign-up', id, '{}', n FROM ${each}`,
    sql`INSERT INTO promo_redemptions (campaign, account_id, n, code_id, email_hash, state, created_at)
      SELECT 'welcome', id, 1, 'promo_1', 'mailbox' || n, 'done', n FROM ${each}`,
    sql`INSERT INTO subscriptions (id, account_id, plan_id, status, pays_by, anchor, turn, period_start, period_end, ends_with_period, reason, created_at)
      SELECT 's' || n, id, 'pro', 'active', 'balance', 0, 0, 0, 1, 0, '', n FROM ${each}`,
    sql`INSERT INTO plan_periods (subscription_id, period_start, period_end, plan_id, price, included, created_at)
      SELECT 's' || n, 0, 1, 'pro', 0, 0, n FROM ${each}`,
  ])
    await statement.execute(kysely);
  // Only PostgreSQL: the embedded database plans without statistics when it runs, too.
  if (dialect === 'postgres') await sql`ANALYZE`.execute(kysely);
}

/** Counts the rows of a table that some work reads on PostgreSQL, in a transaction because its counts can be read. */
async function countRowsRead(kysely: Kysely<Tables>, table: keyof Tables, work: Reading['read']): Promise<number> {
  return kysely.transaction().execute(async (transaction) => {
    const count = async (): Promise<number> => {
      const { rows } = await sql<{ rows: bigint }>`SELECT seq_tup_read + COALESCE(idx_tup_fetch, 0) AS rows FROM pg_stat_xact_user_tables
        WHERE relname = ${table}`.execute(transaction);
      return Number(rows[0]?.rows);
    };
    const before = await count();
    await work(transaction);
    return (await count()) - before;
  });
}
