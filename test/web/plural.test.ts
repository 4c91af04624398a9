import { expect, test } from 'bun:test';
import { adminCodes } from '../../web/strings/admin-codes.ts';
import { adminPayments } from '../../web/strings/admin-payments.ts';
import { models } from '../../web/strings/models.ts';
import { plans } from '../../web/strings/plans.ts';

test.each([
  ['1 payment compared. No differences.', adminPayments.compare.agrees('1')],
  ['2 payments compared. No differences.', adminPayments.compare.agrees('2')],
  ['1,001 payments compared. No differences.', adminPayments.compare.agrees('1,001')],
  ['1 unrelated payment in the same Stripe account was left out.', adminPayments.compare.foreign('1')],
  ['1 code, 0 not stopped, 1 redeemed.', adminCodes.campaign.sums('1', '0', '1')],
  ['1 model', models.count(1, 1)],
  ['0 of 1 model', models.count(0, 1)],
  ['1 request per minute per key', plans.requests('1')],
])('counts and nouns agree: %s', (expected, text) => {
  expect(text).toBe(expected);
});
