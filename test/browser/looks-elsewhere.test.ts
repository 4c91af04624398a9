import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { asNanos } from '../../src/ledger/money.ts';
import { chromiumPath, close } from '../services/chromium.ts';
import { until } from '../until.ts';
import { shareStage, type Stage } from './key-stage.ts';
import { ask } from './traffic.ts';

/** Pages in print, in forced colours, and while parts of them still load. */

const OPEN_WITHIN_MS = 300_000;
const TEST_MS = 120_000;

describe.skipIf(chromiumPath === undefined)('page layout while loading, in forced colours and in print', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await shareStage();
  }, OPEN_WITHIN_MS);
  afterAll(() => stage?.close());

  test(
    'space is reserved for parts that load late',
    async () => {
      const { page } = await stage.enterSameTab({ viewport: { width: 1440, height: 900 } });
      const expectToStay = async ({ path, late, below, seen }: Record<'path' | 'late' | 'below' | 'seen', string>): Promise<void> => {
        const held = Promise.withResolvers<void>();
        await page.route(late, async (route) => {
          await held.promise;
          await route.continue();
        });
        await page.goto(path);
        const part = page.getByText(below, { exact: true }).first();
        await part.waitFor();
        const before = await part.boundingBox();
        held.resolve();
        await page.getByText(seen).first().waitFor();
        expect([path, (await part.boundingBox())?.y]).toEqual([path, before?.y]);
      };
      const overview = { path: '/overview', late: '**/api/overview?**', below: 'Spend per day', seen: 'Nothing reserved right now' };
      await expectToStay(overview);
      const chart = {
        path: '/usage',
        late: '**/assets/bar-drawing-*',
        below: 'No usage in this range',
        seen: 'No data in this range',
      };
      await expectToStay(chart);
    },
    TEST_MS,
  );

  test(
    'selected states stay distinguishable in forced colours',
    async () => {
      const { context, page } = await stage.enter({ forcedColors: 'active' });
      await page.goto('/settings?tab=data');
      await page.getByRole('switch').waitFor();
      for (const [chosen, other] of [
        ['[role=switch] span', '[role=switch]'],
        ['main button[aria-pressed=true]', 'main button[aria-pressed=false]'],
        ['nav a[aria-current=page]', 'nav a:not([aria-current])'],
      ] as const)
        expect([chosen, await backgroundOf(page, chosen)]).not.toEqual([chosen, await backgroundOf(page, other)]);
      await page.goto('/billing');
      await page.getByRole('complementary').getByText('Available').waitFor();
      const faint = `[...element.querySelectorAll('*')].filter((part) => getComputedStyle(part).color !== getComputedStyle(element).color).length`;
      expect(await read(page, 'a[aria-current=page]', faint)).toBe(0);
      await close(context);
    },
    TEST_MS,
  );

  test(
    'a printed statement has every row, full IDs and dark text, without navigation or buttons',
    async () => {
      const { context, page, account } = await stage.enterSameTab({ colorScheme: 'dark' });
      for (let row = 0; row < 30; row += 1)
        await stage.service.accounts.credit(account, asNanos(1_000_000n), { reason: 'row', actor: 'test' });
      const key = await context.request.post('/api/keys', { data: { name: 'paper' }, headers: { origin: stage.service.url } });
      const { secret } = (await key.json()) as { secret: string };
      await context.request.post('/v1/chat/completions', {
        data: { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello' }] },
        headers: { authorization: `Bearer ${secret}` },
      });
      await page.setViewportSize({ width: 794, height: 1123 });
      await page.goto('/billing');
      const list = page.getByRole('region', { name: 'Transactions, newest first' });
      await list.getByText('row').first().waitFor();
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
      expect(await read(page, '[aria-label^=Transactions] code', 'element.scrollWidth - element.clientWidth')).toBe(0);
      expect(await read(page, '[role=region][aria-label^=Transactions]', 'element.scrollHeight - element.clientHeight')).toBe(0);
      expect(await read(page, 'html', 'getComputedStyle(element).color')).toBe('rgb(27, 25, 21)');
      expect(await page.getByRole('navigation', { name: 'Main' }).count()).toBe(0);
      expect(await page.getByRole('main').getByRole('button').count()).toBe(0);
    },
    TEST_MS,
  );

  test(
    'the overview shows the two worst of many banners above its figures, and the others on demand',
    async () => {
      const { context, page } = await stage.enterSameTab({ viewport: { width: 1440, height: 900 } });
      const headers = { origin: stage.service.url };
      const expiresAtMs = Date.now() + 86_400_000;
      for (const name of ['one', 'two', 'three']) await context.request.post('/api/keys', { data: { name, expiresAtMs }, headers });
      await context.request.post('/api/keys', { data: { name: 'spent', budgets: { day: '0' } }, headers });
      await page.goto('/overview');
      await page.getByText('Key spent has reached its limit').waitFor();
      const banners = page
        .getByRole('main')
        .locator('[role=alert], [role=status]')
        .filter({ has: page.getByRole('link') });
      expect(await banners.count()).toBe(2);
      expect(await banners.first().textContent()).toContain('Key spent');
      const figures = await page.getByRole('main').getByText('Runway').boundingBox();
      expect(figures?.y).toBeLessThan(350);
      await page.getByRole('button', { name: 'Show 2 more' }).press('Enter');
      expect(await banners.count()).toBe(4);
      await page.getByRole('button', { name: 'Show fewer' }).press('Enter');
      expect(await banners.count()).toBe(2);
    },
    TEST_MS,
  );

  test(
    'the overview tells of a key that refuses requests before its limit is spent, and not of disabled keys',
    async () => {
      const { page, account } = await stage.enterSameTab();
      const budgets = { day: asNanos(1000n) };
      const { secret } = await stage.service.keys.create(account.id, { name: 'tight', budgets });
      const resting = await stage.service.keys.create(account.id, { name: 'resting', budgets: { day: asNanos(0n) } });
      await stage.service.keys.update({ ...resting, accountId: account.id, actor: 'test' }, { isDisabled: true });
      expect(await ask(stage.service.url, secret)).toBe('403 insufficient_quota');
      await page.goto('/overview');
      await until(async () => {
        await page.reload();
        await page.getByText('Spend per day').waitFor();
        return page.getByText('Key tight has reached its limit').isVisible();
      });
      await page.getByText(/^\$0\.00 of \$0\.000001 per day\. It refused a request .+\.$/u).waitFor();
      expect(await page.getByText('Key resting').count()).toBe(0);
    },
    TEST_MS,
  );

  test(
    'names and answers in Arabic are written from right to left, and a change still reads from old to new',
    async () => {
      const { context, page } = await stage.enterSameTab({ viewport: { width: 1440, height: 900 } });
      const headers = { origin: stage.service.url };
      const made = await context.request.post('/api/keys', { data: { name: 'مفتاح الإنتاج للموقع الرئيسي' }, headers });
      const { id, secret } = (await made.json()) as { id: string; secret: string };
      await context.request.post('/v1/chat/completions', {
        data: { model: 'sandbox/echo', messages: [{ role: 'user', content: 'مرحبا' }] },
        headers: { authorization: `Bearer ${secret}` },
      });
      await page.goto('/requests');
      // The end of a long name is cut off: on the left.
      await page.locator('td span:dir(rtl)').filter({ hasText: 'مفتاح' }).first().waitFor();

      await context.request.patch(`/api/keys/${id}`, { data: { name: 'اسم جديد' }, headers });
      await page.goto(`/keys/${id}?tab=history`);
      const [before, after] = await Promise.all(
        ['مفتاح الإنتاج للموقع الرئيسي', 'اسم جديد'].map((text) =>
          page.getByRole('main').locator('dd').first().getByText(text).boundingBox(),
        ),
      );
      expect(Number(before?.x) + Number(before?.width)).toBeLessThan(Number(after?.x));

      await page.goto('/playground');
      await page.getByLabel('Model', { exact: true }).selectOption('sandbox/echo');
      await page.getByLabel('Message').fill('مرحبا! كيف حالك؟');
      await page.getByRole('button', { name: 'Send' }).click();
      const said = page.locator('p:dir(rtl)').filter({ hasText: 'كيف حالك؟' });
      for (const each of [said.first(), said.nth(1)]) await each.waitFor();
    },
    TEST_MS,
  );
});

function backgroundOf(page: Page, selector: string): Promise<unknown> {
  return read(page, selector, 'getComputedStyle(element).backgroundColor');
}

function read(page: Page, selector: string, expression: string): Promise<unknown> {
  return page.evaluate(`((element) => ${expression})(document.querySelector('${selector}'))`);
}
