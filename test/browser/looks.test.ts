import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { asNanos } from '../../src/ledger/money.ts';
import { chromiumPath } from '../services/chromium.ts';
import { findBarriers, overflowOf, shareStage, type Stage, type Visit } from './key-stage.ts';

/** Pages with unusually long texts, large amounts and small screens. */

const OPEN_WITHIN_MS = 300_000;
const TEST_MS = 120_000;
const LONG = 'x'.repeat(100);
const FAILED = {
  id: 'req_1',
  atMs: Date.now(),
  outcome: 'failed',
  model: 'mistral/mistral-medium-3.5',
  servedModel: 'mistral-medium-3-5',
  keyId: 'key_1',
  inputTokens: 12_345,
  cachedInputTokens: 1234,
  cacheWriteTokens: 0,
  outputTokens: 1234,
  isEstimated: false,
  costUsd: '0.000062',
  firstTokenMs: 141,
  durationMs: 141,
  isStreaming: true,
  finishReason: null,
  errorCode: 'rate_limit_exceeded',
};

describe.skipIf(chromiumPath === undefined)('page layout', () => {
  let stage: Stage;
  /** For tests to which other keys in the account make no difference: a context of their own would take most of their time. */
  let visit: Visit;
  beforeAll(async () => {
    stage = await shareStage();
    visit = await stage.enter();
  }, OPEN_WITHIN_MS);
  afterAll(() => stage?.close());

  test(
    'a long key name does not push the other columns out of view',
    async () => {
      const { context, page } = await stage.enterSameTab();
      const key = await context.request.post('/api/keys', {
        data: { name: LONG, budgets: { day: '1' } },
        headers: { origin: stage.service.url },
      });
      const expectInSight = async (path: string): Promise<void> => {
        for (const width of [360, 1440]) {
          await page.setViewportSize({ width, height: 900 });
          await page.goto(path);
          await page.getByRole('link', { name: LONG }).waitFor();
          const wideBy = await read(page, '[role=region]', 'element.scrollWidth - element.clientWidth');
          expect([path, width, wideBy, await overflowOf(page)]).toEqual([path, width, 0, 0]);
        }
      };
      await expectInSight('/keys');
      const { secret } = (await key.json()) as { secret: string };
      await context.request.post('/v1/chat/completions', {
        data: { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello' }] },
        headers: { authorization: `Bearer ${secret}` },
      });
      await expectInSight('/overview');
    },
    TEST_MS,
  );

  test(
    'a table on a phone has the same padding on both sides',
    async () => {
      const { page } = visit;
      await page.setViewportSize({ width: 360, height: 800 });
      await page.goto('/models');
      await page.getByText('sandbox/echo').first().waitFor();
      expect(await read(page, 'th', 'getComputedStyle(element).paddingLeft')).toBe('16px');
      expect(await read(page, 'th:nth-last-child(1 of :not(.max-sm\\\\:hidden))', 'getComputedStyle(element).paddingRight')).toBe('16px');
    },
    TEST_MS,
  );

  test(
    'minor columns are hidden in a narrow table unless the user chose them',
    async () => {
      const { context, page } = visit;
      await page.setViewportSize({ width: 1024, height: 900 });
      await context.request.post('/api/keys', { data: { name: 'narrow' }, headers: { origin: stage.service.url } });
      await page.goto('/keys');
      await page.getByRole('link', { name: 'narrow' }).waitFor();
      const expires = page.getByRole('columnheader', { name: 'Expires' });
      expect(await expires.isVisible()).toBeFalse();
      await page.goto('/keys?hide=tags');
      await expires.waitFor();
    },
    TEST_MS,
  );

  test(
    'a long word in a transaction does not push its amount out of view',
    async () => {
      const { page, account } = await stage.enterSameTab();
      await stage.service.accounts.credit(account, asNanos(1_000_000n), { reason: LONG + LONG, actor: 'test' });
      for (const width of [360, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        await page.goto('/billing');
        await page.getByText(LONG).waitFor();
        expect([width, await read(page, '[aria-label^=Transactions]', 'element.scrollWidth - element.clientWidth')]).toEqual([width, 0]);
      }
    },
    TEST_MS,
  );

  test(
    'the error code of a failed request is in view',
    async () => {
      const { page } = visit;
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.route('**/api/requests?**', (route) => route.fulfill({ json: { requests: [FAILED], next: null } }));
      await page.goto('/requests');
      await page.getByText('rate_limit_exceeded').waitFor();
      expect(await read(page, '[role=region]', 'element.scrollWidth - element.clientWidth')).toBe(0);
      await page.unroute('**/api/requests?**');
    },
    TEST_MS,
  );

  test(
    'a long table scrolls in place and leaves no blank space below the page',
    async () => {
      const { context, page } = await stage.enterSameTab();
      for (let each = 0; each < 40; each += 1)
        await context.request.post('/api/keys', { data: { name: `worker ${each}` }, headers: { origin: stage.service.url } });
      await page.goto('/keys');
      await page.getByRole('link', { name: 'worker 39' }).waitFor();
      expect(await read(page, 'html', 'element.scrollHeight - document.querySelector("main").offsetHeight')).toBe(0);
    },
    TEST_MS,
  );

  test(
    'a chart shows values and total of the hovered bar without moving the page, and is a table for screen readers',
    async () => {
      const { context, page } = await stage.enterSameTab();
      const key = await context.request.post('/api/keys', { data: { name: 'stories' }, headers: { origin: stage.service.url } });
      const { secret } = (await key.json()) as { secret: string };
      await page.goto('/usage');
      await page.getByText('No data in this range').waitFor();
      for (const model of ['sandbox/echo', 'sandbox/story'])
        await context.request.post('/v1/chat/completions', {
          data: { model, messages: [{ role: 'user', content: 'Hello' }] },
          headers: { authorization: `Bearer ${secret}` },
        });
      await page.goto('/usage');
      const chart = page.getByRole('img', { name: 'Spend by model' });
      await chart.waitFor();
      const { x, y, width, height } = (await chart.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
      const lengthBefore = await read(page, 'html', 'element.scrollHeight');
      await page.mouse.move(x + width - 40, y + height / 2);
      const readout = page.locator('figure p').filter({ hasText: 'Total' });
      await readout.waitFor();
      expect(await readout.textContent()).toBe(`Total${await page.locator('tfoot td').nth(1).textContent()}`);
      expect(await read(page, 'html', 'element.scrollHeight')).toBe(lengthBefore);
      await page.mouse.move(0, 0);
      await readout.waitFor({ state: 'detached' });
      await page.goto('/usage?metric=latency_ms');
      const means = page.getByRole('table', { name: 'Latency' }).locator('tbody tr');
      await means.first().waitFor({ state: 'attached' });
      expect(await means.first().locator('td').allTextContents()).toEqual(['no data', 'no data']);
      expect(await means.last().locator('td').allTextContents()).toEqual([
        expect.stringMatching(/ m?s$/u),
        expect.stringMatching(/ m?s$/u),
      ]);
    },
    TEST_MS,
  );

  test(
    'a row of choices that is too wide scrolls the selected and the focused choice into view',
    async () => {
      const { page } = visit;
      await page.setViewportSize({ width: 360, height: 800 });
      const expectInSight = async (name: string, rightPx: number): Promise<void> => {
        const choice = page.getByRole('button', { name, exact: true });
        await choice.waitFor();
        const { x, width } = (await choice.boundingBox()) ?? { x: 0, width: 0 };
        expect([name, x > 0, x + width < rightPx]).toEqual([name, true, true]);
      };
      await page.goto('/usage?range=month');
      await expectInSight('This month', 345);
      await page.goto('/start?snippet=langchain');
      const { x: copyX } = (await page.getByRole('button', { name: 'Copy', exact: true }).boundingBox()) ?? { x: 0 };
      await expectInSight('LangChain', copyX);
      await page.getByRole('button', { name: 'LangChain', exact: true }).focus();
      await page.keyboard.press('Tab');
      await expectInSight('.env', copyX);
    },
    TEST_MS,
  );

  test(
    'a user who is not an operator sees no links to operator pages',
    async () => {
      const { page } = visit;
      await page.setViewportSize({ width: 1280, height: 720 });
      await page.goto('/admin/accounts');
      await page.getByRole('heading', { name: 'Page not found' }).waitFor();
      expect(await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Accounts' }).count()).toBe(0);
      expect(await findBarriers(page)).toEqual([]);
      await page.goto('/nowhere');
      await page.getByRole('heading', { name: 'Page not found' }).waitFor();
      expect(await page.title()).toBe('Page not found · Tollgate');
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Overview' }).click();
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
    },
    TEST_MS,
  );

  test(
    'a table with a single page has no pagination',
    async () => {
      const { page } = visit;
      await page.setViewportSize({ width: 1280, height: 720 });
      await page.goto('/billing');
      await page.getByRole('region', { name: 'Transactions, newest first' }).getByText('test').first().waitFor();
      expect(await page.getByRole('button', { name: 'Older' }).count()).toBe(0);
    },
    TEST_MS,
  );

  test(
    'a secret that is shown once is fully visible on a phone',
    async () => {
      const { page } = visit;
      await page.setViewportSize({ width: 360, height: 800 });
      await page.goto('/keys');
      await page.getByRole('button', { name: 'Create key' }).first().click();
      await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('phone');
      await page.keyboard.press('Enter');
      await page.getByRole('dialog', { name: 'Store this secret now' }).waitFor();
      expect(await read(page, '[role=dialog] code', 'element.scrollWidth - element.clientWidth')).toBe(0);
      expect(await overflowOf(page)).toBe(0);
    },
    TEST_MS,
  );

  test(
    'a very large balance fits a phone',
    async () => {
      const { page, account } = await stage.enterSameTab({ viewport: { width: 320, height: 800 } });
      await stage.service.accounts.credit(account, asNanos(123_456_789_123_456_789n), { reason: 'fortune', actor: 'test' });
      for (const path of ['/overview', '/billing']) {
        await page.goto(path);
        await page.locator('main').getByText('$123,456,799.12').first().waitFor();
        expect([path, await overflowOf(page)]).toEqual([path, 0]);
        const wideBy = await read(page, 'main .figures.text-xl', 'element.scrollWidth - element.clientWidth');
        expect([path, wideBy]).toEqual([path, 0]);
      }
    },
    TEST_MS,
  );

  test(
    'a long statement can be paged back and forth',
    async () => {
      const { page, account } = await stage.enterSameTab();
      for (let row = 1; row <= 60; row += 1) {
        await stage.service.accounts.credit(account, asNanos(1_000_000n), { reason: `row ${row}.`, actor: 'test' });
        // Rows of the same millisecond have no defined order.
        await Bun.sleep(2);
      }
      await page.goto('/billing');
      const list = page.getByRole('region', { name: 'Transactions, newest first' });
      const pages = page.getByRole('navigation', { name: 'Pages' });
      await list.getByText('row 60.').waitFor();
      await pages.getByRole('button', { name: 'Older' }).click();
      await list.getByText('row 35.').waitFor();
      await pages.getByRole('button', { name: 'Older' }).click();
      await list.getByText('row 10.').waitFor();
      await pages.getByRole('button', { name: 'Newer' }).click();
      await list.getByText('row 35.').waitFor();
      await pages.getByRole('button', { name: 'Newer' }).click();
      await list.getByText('row 60.').waitFor();
      expect(await pages.getByRole('button', { name: 'Newer' }).isDisabled()).toBeTrue();
    },
    TEST_MS,
  );
});

function read(page: Page, selector: string, expression: string): Promise<unknown> {
  return page.evaluate(`((element) => ${expression})(document.querySelector('${selector}'))`);
}
