import { describe, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { Client } from 'pg';
import { testAfterPayments } from '../conformance/money-in/after-payments.ts';
import { testClosedAccounts } from '../conformance/money-in/closed-accounts.ts';
import { testLiftedDisputes } from '../conformance/money-in/lifted-disputes.ts';
import { testPlanUse } from '../conformance/money-in/plan-use.ts';
import { testPlans } from '../conformance/money-in/plans.ts';
import { testPromoCodes } from '../conformance/money-in/promo-codes.ts';
import { testRenewalsByCard } from '../conformance/money-in/renewals-by-card.ts';
import { testRenewals } from '../conformance/money-in/renewals.ts';
import { MoneyStage, usd } from '../conformance/money-in/stage.ts';
import { testStillWanted } from '../conformance/money-in/still-wanted.ts';
import { testTopUps } from '../conformance/money-in/top-ups.ts';
import { postgres } from '../ledger/postgres-driver.ts';
import { postgresUrl } from '../services/postgres.ts';
import { until } from '../until.ts';

describe.skipIf(postgresUrl === undefined)('money in on PostgreSQL', () => {
  describe('payments', () => testTopUps(postgres));
  describe('after a payment', () => testAfterPayments(postgres));
  describe('a dispute that is won', () => testLiftedDisputes(postgres));
  describe('promo codes', () => testPromoCodes(postgres));
  describe('plans', () => testPlans(postgres));
  describe('use of plan credit', () => testPlanUse(postgres));
  describe('closed accounts', () => testClosedAccounts(postgres));
  describe('renewals and plan changes', () => testRenewals(postgres));
  describe('renewals by card', () => testRenewalsByCard(postgres));
  describe('charges that are no longer wanted', () => testStillWanted(postgres));

  test('a refund at the moment its bonus expires takes the bonus back once', async () => {
    const stage = await MoneyStage.open(postgres);
    const customer = await stage.makeCustomer();
    await stage.redeem(customer, await stage.makeCode({ kind: 'bonus', percent: 50, amount: usd('8'), creditDays: 30 }));
    const payment = await stage.topUp(customer, '20');
    const other = new Client({ connectionString: stage.books.place.databaseUrl });
    await other.connect();
    await other.query('BEGIN');
    await other.query('SELECT 1 FROM grants WHERE account_id = $1 FOR UPDATE', [customer.accountId]);
    const waiters = async (): Promise<bigint | undefined> => {
      const { rows } = await sql<{ count: bigint }>`
        SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`.execute(stage.books.kysely);
      return rows[0]?.count;
    };
    // The expiry locks the wallet and waits for the credit. The refund waits for the wallet.
    const expiring = stage.expireWithin(31);
    await until(async () => (await waiters()) === 1n);
    const from = stage.stripe.books.events.length;
    stage.stripe.books.refund(payment.provider_ref ?? '', 2000);
    const refunding = stage.deliverNew(from);
    await until(async () => (await waiters()) === 2n);
    await other.query('COMMIT');
    await other.end();
    await Promise.all([expiring, refunding]);
    expect(await stage.balance(customer)).toBe(0n);
    await stage.close();
  });
});
