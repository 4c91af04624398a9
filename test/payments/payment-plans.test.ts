import { afterAll, beforeAll, expect, test } from 'bun:test';
import { connect, type OpenDatabase } from '../../src/database/connect.ts';
import { migrate } from '../../src/database/migrate.ts';
import { Accounts } from '../../src/accounts/accounts.ts';
import { planSchema } from '../../src/accounts/plan-settings.ts';
import { Plans } from '../../src/accounts/plans.ts';
import { Subscriptions } from '../../src/accounts/subscriptions.ts';
import { openMoneyIn } from '../../src/payments/open.ts';
import { AutoTopUps } from '../../src/payments/auto-top-up.ts';
import { PaymentList } from '../../src/payments/payment-list.ts';
import { listProblems } from '../../src/payments/problems.ts';
import { NO_PAYMENTS } from '../dashboard/open-dashboard.ts';
import { makeSqlite, type Store } from '../dashboard/stores.ts';
import { plansOf } from '../database/plans-of.ts';

const PAGE = { before: '5-pay_1', rowsMax: 50 };

let store: Store;
let database: OpenDatabase;
beforeAll(async () => {
  store = await makeSqlite();
  database = await connect(store);
  await migrate(database.kysely, database.dialect);
});
afterAll(async () => {
  await database.kysely.destroy();
  await store.remove();
});

test('problems are found through indexes', async () => {
  const plans = await plansOf(database.kysely, (kysely) => listProblems(kysely, Date.now(), 100));
  expect(plans).toEqual([
    'SEARCH webhook_events USING INDEX webhook_events_by_outcome (outcome=?)',
    'SEARCH webhook_events USING INDEX webhook_events_by_outcome (outcome=?)',
    'SEARCH payments USING INDEX payments_by_status (status=? AND created_at<?)',
    'SEARCH payments USING INDEX payments_by_status (status=? AND created_at<?)',
    'SCAN payment_reversals USING INDEX payment_disputes',
    'SEARCH payments USING INDEX sqlite_autoindex_payments_2 (provider_ref=?)',
    'SEARCH payments USING INDEX payments_misspent (status=?)',
  ]);
});

test.each([
  [{}, 'payments_by_time'],
  [{ status: 'open', provider: 'manual' }, 'payments_by_status'],
  [{ account: 'ada@example.com' }, 'payments_by_account'],
  [{ reference: 'pi_1' }, 'sqlite_autoindex_payments'],
] as const)('a page of payments with %j is read through %s', async (filter, index) => {
  const plans = await plansOf(database.kysely, (kysely) => new PaymentList(kysely).read(filter, PAGE));
  expect(plans.filter((plan) => /^SCAN \w+$/u.test(plan))).toEqual([]);
  expect(plans.join('\n')).toContain(`SEARCH payments USING INDEX ${index}`);
});

test('the included credit of a period is found through an index, without scanning all grants', async () => {
  const { kysely } = database;
  await new Plans(kysely).save(planSchema.parse({ id: 'pro', name: 'Pro', price_usd: '0', included_usd: '5' }), 'command');
  const account = await new Accounts(kysely).create('ada@example.com', false);
  const given = await new Subscriptions(kysely).assign(account?.id ?? '', 'pro', { nowMs: Date.now() });
  expect(given.type).toBe('done');
  const plans = await plansOf(kysely, (watched) => new Subscriptions(watched).due('balance', Date.now() + 40 * 86_400_000, 100));
  expect(plans.filter((plan) => plan.includes('grants'))).toEqual([
    'SEARCH grants USING INDEX sqlite_autoindex_grants_2 (source=?)',
    'SEARCH grants USING INDEX sqlite_autoindex_grants_2 (source>? AND source<?)',
  ]);
});

test('automatic top-ups are looked for among the accounts that enabled them, without scanning any table', async () => {
  const { desk } = await openMoneyIn({ database: database.kysely, payments: NO_PAYMENTS, url: 'http://gate.test' });
  const plans = await plansOf(database.kysely, (kysely) => new AutoTopUps(kysely, desk).turn(Date.now()));
  expect(plans.filter((plan) => plan.startsWith('SCAN'))).toEqual([]);
  expect(plans.some((plan) => plan.startsWith('SEARCH auto_top_ups'))).toBe(true);
});
