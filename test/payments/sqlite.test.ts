import { describe } from 'bun:test';
import { testAfterPayments } from '../conformance/money-in/after-payments.ts';
import { testClosedAccounts } from '../conformance/money-in/closed-accounts.ts';
import { testLiftedDisputes } from '../conformance/money-in/lifted-disputes.ts';
import { testPlanUse } from '../conformance/money-in/plan-use.ts';
import { testPlans } from '../conformance/money-in/plans.ts';
import { testPromoCodes } from '../conformance/money-in/promo-codes.ts';
import { testRenewalsByCard } from '../conformance/money-in/renewals-by-card.ts';
import { testRenewals } from '../conformance/money-in/renewals.ts';
import { testStillWanted } from '../conformance/money-in/still-wanted.ts';
import { testTopUps } from '../conformance/money-in/top-ups.ts';
import { sqlite } from '../ledger/sqlite-driver.ts';

describe('money in on the embedded database', () => {
  describe('payments', () => testTopUps(sqlite));
  describe('after a payment', () => testAfterPayments(sqlite));
  describe('a dispute that is won', () => testLiftedDisputes(sqlite));
  describe('promo codes', () => testPromoCodes(sqlite));
  describe('plans', () => testPlans(sqlite));
  describe('use of plan credit', () => testPlanUse(sqlite));
  describe('closed accounts', () => testClosedAccounts(sqlite));
  describe('renewals and plan changes', () => testRenewals(sqlite));
  describe('renewals by card', () => testRenewalsByCard(sqlite));
  describe('charges that are no longer wanted', () => testStillWanted(sqlite));
});
