import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { chromiumPath, close } from '../services/chromium.ts';
import { until } from '../until.ts';
import { findBarriers, openStage, overflowOf, type Stage, type Visit } from './key-stage.ts';
import { makeOperator } from './operators.ts';

const OPEN_WITHIN_MS = 300_000;
const TEST_MS = 120_000;
const QUARTER_MS = 900_000;
const PLANS = [
  { id: 'walker', name: 'Walker', price_usd: 10, included_usd: 12 },
  { id: 'settler', name: 'Settler', price_usd: 100, included_usd: 130, interval: 'year' },
];

describe.skipIf(chromiumPath === undefined)('figures can be understood without hovering', () => {
  let stage: Stage;
  let visit: Visit;
  let page: Page;
  let requestId: string;
  beforeAll(async () => {
    stage = await openStage({
      settings: { plans: PLANS, accounts: { sign_up_credit_usd: 2.5 } },
      environment: { DEEPSEEK_API_KEY: 'key' },
    });
    visit = await stage.enter({ timezoneId: 'Europe/Berlin' });
    page = visit.page;
    await makeOperator(stage.database, visit.account.email);
    requestId = await sendRequest(stage, visit);
  }, OPEN_WITHIN_MS);
  afterAll(async () => {
    await close(visit?.context);
    await stage?.close();
  });

  test(
    'the status page names its figures and describes each half hour to pointers, fingers and keys',
    async () => {
      await page.goto('/status');
      await page.getByText('100% of 1 request', { exact: true }).waitFor();
      await page.getByText(/^First token, p50: .+$/u).waitFor();
      const strip = page.getByRole('list', { name: 'sandbox: last 24 hours' });
      const readout = strip.locator('xpath=following-sibling::p');
      expect(await readout.innerText()).toContain('24 hours ago');
      await strip.focus();
      await page.keyboard.press('ArrowRight');
      const now = await readout.innerText();
      expect(now).toMatch(/Europe\/Berlin: /u);
      await page.keyboard.press('ArrowLeft');
      expect(await readout.innerText()).not.toBe(now);
      await strip.locator('li').first().hover();
      expect(await readout.innerText()).toMatch(/Europe\/Berlin: no requests/u);
      expect(await findBarriers(page)).toEqual([]);
    },
    TEST_MS,
  );

  test(
    'the credit of a new account is named before signing up',
    async () => {
      const visitor = await stage.browser.newPage({
        baseURL: stage.service.url,
        viewport: { width: 360, height: 700 },
        colorScheme: 'dark',
      });
      await visitor.goto('/sign-up');
      await visitor.getByText('New accounts get $2.50 of credit').waitFor();
      expect([await overflowOf(visitor), await findBarriers(visitor)]).toEqual([0, []]);
      await close(visitor.context());
    },
    TEST_MS,
  );

  test(
    'the list of keys shows on a phone which key is which, and cuts a long name short',
    async () => {
      const name = 'a key for the nightly evaluation of every prompt that anybody in the whole company has ever written';
      const { secret } = await stage.service.keys.create(visit.account.id, { name });
      const phone = await visit.context.newPage();
      await phone.setViewportSize({ width: 360, height: 700 });
      await phone.goto('/keys');
      const row = phone.getByRole('row', { name });
      await row
        .getByText(`…${secret.slice(-4)}`)
        .filter({ visible: true })
        .waitFor();
      const link = row.getByRole('link', { name });
      expect(await link.getAttribute('title')).toBe(name);
      expect((await link.boundingBox())?.height).toBeLessThan(50);
      expect(await overflowOf(phone)).toBe(0);
      await phone.close();
    },
    TEST_MS,
  );

  test(
    'prices have all of their digits where models are chosen',
    async () => {
      await page.goto('/keys?create=open');
      await page.getByText('Models, IPs and tags').click();
      await page.getByText('$0.435 in').first().waitFor();
    },
    TEST_MS,
  );

  test(
    'two times side by side are explained below the table',
    async () => {
      await page.goto('/models');
      await page.getByText('First token: median / 95th percentile').waitFor();
      await page.goto('/admin/providers');
      await page.getByText('First token and duration: median / 95th percentile of the last 24 hours.').waitFor();
      await page.getByText('how many of the calls succeeded').waitFor();
      await page.goto('/usage?metric=latency_ms');
      await page.getByText('Latency: to the end of the whole answer.').waitFor();
    },
    TEST_MS,
  );

  test(
    'a plan gives its credit per month or per year, and a request says in which zone its time is and how long it took',
    async () => {
      await page.goto('/plans');
      await page.getByText('$12.00 of credit per month').waitFor();
      await page.getByText('$130.00 of credit per year').waitFor();
      await page.goto(`/requests?request=${requestId}`);
      await page
        .getByRole('dialog')
        .getByText(/^(?:First token after .+, ended after|Ended after) /u)
        .waitFor();
      await page
        .getByRole('dialog')
        .getByText(/^\d.+:\d\d Europe\/Berlin$/u)
        .waitFor();
    },
    TEST_MS,
  );

  test(
    'large settings are grouped like other numbers, and the port is not',
    async () => {
      await page.goto('/admin/settings');
      const value = (name: string) => page.getByRole('row').filter({ hasText: name }).getByRole('cell').last().innerText();
      await page.getByText('timeouts.total_ms').waitFor();
      expect(await value('timeouts.total_ms')).toBe('1,800,000');
      expect(await value('PORT, environment')).toBe(new URL(stage.service.url).port);
    },
    TEST_MS,
  );

  test(
    'a share of errors stands apart from their number',
    async () => {
      const sums = { reasoning_tokens: 0, first_token_ms: 0, first_token_count: 0, duration_ms: 10, cost: 1000 };
      const tokens = { input_tokens: 10, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 10 };
      const quarter = Math.floor(Date.now() / QUARTER_MS) * QUARTER_MS;
      const owner = { account_id: visit.account.id, key_id: 'key_x', provider: 'sandbox', model: 'sandbox/failing' };
      const row = { ...owner, ...sums, ...tokens, quarter_hour: quarter, requests: 14, errors: 1 };
      await stage.database.insertInto('usage_rollups').values(row).execute();
      await page.goto('/usage?range=7d&group=model');
      await page.getByRole('cell', { name: '1 (7.1%)' }).waitFor();
    },
    TEST_MS,
  );
});

/** Sends a request and waits until it is recorded: what pages show of it is measured once a minute. */
async function sendRequest({ service, database }: Stage, { account }: Visit): Promise<string> {
  const { secret } = await service.keys.create(account.id, { name: 'first' });
  const answer = await fetch(`${service.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox/echo', stream: true, messages: [{ role: 'user', content: 'Hello' }] }),
  });
  await answer.text();
  await until(async () => (await database.selectFrom('usage').select('account_id').execute()).length > 0);
  return answer.headers.get('x-request-id') ?? '';
}
