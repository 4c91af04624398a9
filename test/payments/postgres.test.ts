import { describe } from 'bun:test';
import { testAfterPayments } from '../conformance/money-in/after-payments.ts';
import { testClosedAccounts } from '../conformance/money-in/closed-accounts.ts';
import { testPlanUse } from '../conformance/money-in/plan-use.ts';
import { testPlans } from '../conformance/money-in/plans.ts';
import { testPromoCodes } from '../conformance/money-in/promo-codes.ts';
import { testRenewals } from '../conformance/money-in/renewals.ts';
import { testTopUps } from '../conformance/money-in/top-ups.ts';
import { postgres } from '../ledger/postgres-driver.ts';
import { postgresUrl } from '../services/postgres.ts';

describe.skipIf(postgresUrl === undefined)('money in on PostgreSQL', () => {
  describe('payments', () => testTopUps(postgres));
  describe('after a payment', () => testAfterPayments(postgres));
  describe('promo codes', () => testPromoCodes(postgres));
  describe('plans', () => testPlans(postgres));
  describe('the credit of plans', () => testPlanUse(postgres));
  describe('closed accounts', () => testClosedAccounts(postgres));
  describe('plans that go on', () => testRenewals(postgres));
});
