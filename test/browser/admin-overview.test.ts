import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { seedUsage } from '../usage/seed-usage.ts';
import { chromiumPath } from '../services/chromium.ts';
import { openStage, type Stage } from './key-stage.ts';
import { makeOperator } from './operators.ts';

const OPEN_WITHIN_MS = 300_000;
const TEST_MS = 180_000;
const SEEN_WITHIN_MS = 60_000;
const DAY_MS = 86_400_000;

let stage: Stage;

describe.skipIf(chromiumPath === undefined)('the overview of the service in a browser', () => {
  beforeAll(async () => {
    stage = await openStage();
  }, OPEN_WITHIN_MS);
  afterAll(() => stage.close());

  test(
    'an operator opens it from the navigation, chooses a range, and follows an account to its requests',
    async () => {
      const { page, account, complaints } = await stage.enter({ viewport: { width: 1440, height: 900 }, timezoneId: 'Europe/Berlin' });
      page.setDefaultTimeout(SEEN_WITHIN_MS);
      await makeOperator(stage.database, account.email);
      const nowMs = Date.now();
      const database = { kysely: stage.database, dialect: 'sqlite' } as const;
      await seedUsage(database, { accountId: 'acct_caller', rows: 300, fromMs: nowMs - 25 * DAY_MS, toMs: nowMs });

      await page.goto('/overview');
      await page.getByRole('link', { name: 'Operator console' }).click();
      await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
      await page.getByText('Not verified yet').waitFor();
      await page.getByRole('button', { name: '30 days' }).click();
      await page.getByText('300', { exact: true }).first().waitFor();
      const address = new URL(page.url());
      expect([address.pathname, address.searchParams.get('range'), address.searchParams.get('zone')]).toEqual([
        '/admin',
        '30d',
        'Europe/Berlin',
      ]);
      await page.getByRole('table', { name: 'Errors by provider' }).getByText('north').waitFor();

      await page.getByRole('link', { name: 'acct_caller@example.com' }).click();
      await page.getByRole('heading', { name: 'Requests', level: 1 }).waitFor();
      expect(new URL(page.url()).searchParams.get('account')).toBe('acct_caller');
      await page.getByText('50 requests').waitFor();
      expect(complaints).toEqual([]);
    },
    TEST_MS,
  );

  test(
    'a ledger that does not match is shown with the failed rules and places',
    async () => {
      const { page, account, complaints } = await stage.enter({ viewport: { width: 1440, height: 900 } });
      page.setDefaultTimeout(SEEN_WITHIN_MS);
      await makeOperator(stage.database, account.email);
      // The ledger itself is sound, so the response is altered on its way.
      let broken: readonly object[] = [];
      await page.route('**/api/admin/overview/books', async (route) => {
        const answer = await route.fetch();
        const books = (await answer.json()) as object;
        await route.fulfill({ response: answer, json: { ...books, verified: { atMs: Date.now(), rules: 9, broken } } });
      });
      await page.goto('/admin');
      await page.getByText('Sum of ledger = balances: OK').waitFor();
      broken = [{ name: 'R1 the sums of every wallet equal its transfers', ok: false, difference: '1.5', places: ['acct_one'] }];
      await page.reload();
      await page.getByText('The ledger does not match').first().waitFor();
      expect(await page.getByText('The ledger does not match').count()).toBe(2);
      await page.getByRole('table', { name: 'Failed rules' }).getByText('acct_one').waitFor();
      expect(complaints).toEqual([]);
    },
    TEST_MS,
  );
});
