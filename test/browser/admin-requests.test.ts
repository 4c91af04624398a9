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

describe.skipIf(chromiumPath === undefined)('requests of all accounts in a browser', () => {
  beforeAll(async () => {
    stage = await openStage();
  }, OPEN_WITHIN_MS);
  afterAll(() => stage.close());

  test(
    'an operator finds a request by the ID a caller quotes, and sees its account',
    async () => {
      const { page, account, complaints } = await stage.enter({ viewport: { width: 1440, height: 900 } });
      page.setDefaultTimeout(SEEN_WITHIN_MS);
      await makeOperator(stage.database, account.email);
      const nowMs = Date.now();
      const database = { kysely: stage.database, dialect: 'sqlite' } as const;
      await seedUsage(database, { accountId: 'acct_caller', rows: 400, fromMs: nowMs - 40 * DAY_MS, toMs: nowMs });
      const oldest = await stage.database.selectFrom('usage').select('request_id').orderBy('request_id').executeTakeFirstOrThrow();

      await page.goto('/admin/requests');
      await page.getByText('acct_caller@example.com').first().waitFor();
      await page.getByLabel('Request ID (x-request-id)').fill(oldest.request_id);
      await page.getByText('1 request', { exact: true }).waitFor();
      await page.locator('tbody tr').click();
      const drawer = page.getByRole('dialog', { name: 'Request' });
      await drawer.getByText('acct_caller@example.com').waitFor();
      expect(await drawer.getByText('Cost breakdown').count()).toBe(1);
      expect(await drawer.getByText('Prompt and answer', { exact: true }).count()).toBe(0);
      expect(new URL(page.url()).searchParams.get('request')).toBe(oldest.request_id);

      await drawer.getByRole('link', { name: 'acct_caller@example.com' }).click();
      await page.getByLabel('Account: email or ID').waitFor();
      expect(await page.getByLabel('Account: email or ID').inputValue()).toBe('acct_caller');
      await page.getByLabel('Status').selectOption({ label: 'Failed' });
      await page.getByRole('button', { name: '30 days' }).click();
      await page.locator('tbody').getByText('provider_').first().waitFor();
      await page.locator('tbody', { hasNotText: 'OK' }).waitFor();
      expect(complaints).toEqual([]);
    },
    TEST_MS,
  );
});
