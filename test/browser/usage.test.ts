import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { gunzipSync } from 'node:zlib';
import OpenAI from 'openai';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { describeEmbedded, type Store } from '../dashboard/stores.ts';
import { buildPages } from '../services/built.ts';
import { chromiumPath, close, launchChromium } from '../services/chromium.ts';
import { findBarriers } from './key-stage.ts';
import { settled } from './settled.ts';
import { openUsageStage, type UsageStage } from './usage-stage.ts';

/** UTC−3:30, or UTC−2:30 in summer. */
const ZONE = 'America/St_Johns';
const OTHER_ZONE = 'Pacific/Chatham';
const OPEN_WITHIN_MS = 120_000;
const TEST_MS = 120_000;

describe.skipIf(chromiumPath === undefined)('usage in a browser', () => {
  describeEmbedded((makeStore) => {
    let store: Store;
    let stage: UsageStage;
    let browser: Browser;
    let context: BrowserContext;
    let page: Page;
    /** The costs reported in the responses. */
    const costs: number[] = [];
    const complaints: string[] = [];

    beforeAll(async () => {
      await buildPages();
      store = await makeStore();
      stage = await openUsageStage(store);
      await makeRequests();
      browser = await launchChromium();
      const size = { viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' } as const;
      context = await browser.newContext({ ...size, timezoneId: ZONE, acceptDownloads: true });
      await context.addCookies([{ ...stage.cookie, url: stage.url }]);
      page = await context.newPage();
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    }, OPEN_WITHIN_MS);
    afterAll(async () => {
      await close(browser);
      await stage?.stop();
      await store?.remove();
    });

    async function makeRequests(): Promise<void> {
      const client = new OpenAI({ baseURL: `${stage.url}/v1`, apiKey: stage.secret, maxRetries: 0 });
      const messages = [{ role: 'user', content: 'Tell me a story' }] as const;
      for (const model of ['stage/story', 'stage/story', 'stage/stubborn']) {
        const { usage } = await client.chat.completions.create({ model, messages: [...messages] });
        costs.push(costIn(usage));
      }
      const streaming = { stream: true, stream_options: { include_usage: true } } as const;
      const stream = await client.chat.completions.create({ model: 'sandbox/story', messages: [...messages], ...streaming });
      for await (const { usage } of stream) if (usage !== null && usage !== undefined) costs.push(costIn(usage));
      await client.chat.completions.create({ model: 'stage/gone', messages: [...messages] }).catch(() => undefined);
    }

    const rows = () => page.getByRole('region', { name: 'Requests, newest first' }).locator('tbody tr');
    const open = async (path: string): Promise<void> => {
      await page.goto(stage.url + path);
      await settled(page);
    };

    test(
      'requests from the official client are listed, newest first',
      async () => {
        await open('/requests?range=today');
        expect(await rows().count()).toBe(5);
        expect(await rows().first().innerText()).toContain('Failed');
        expect(await page.getByText(/5 requests, \$0\.0/).count()).toBe(1);
      },
      TEST_MS,
    );

    test(
      'filters are kept in the URL and survive a reload',
      async () => {
        await page.getByLabel('Model', { exact: true }).selectOption('stage/story');
        await page.waitForURL(/model=stage/);
        await page.reload();
        await settled(page);
        expect(await page.getByLabel('Model', { exact: true }).inputValue()).toBe('stage/story');
        expect(await rows().count()).toBe(2);
        await page.getByRole('button', { name: 'Clear filters' }).click();
        await page.waitForURL((url) => !url.search.includes('model'));
        await rows().nth(4).waitFor();
      },
      TEST_MS,
    );

    test(
      'the drawer has its own URL and shows the cost breakdown and the provider attempts',
      async () => {
        await rows().filter({ hasText: 'stage/stubborn' }).click();
        await page.waitForURL(/request=req_/);
        const drawer = page.getByRole('dialog');
        await drawer.getByText('Charged').waitFor();
        const equation = await drawer.getByRole('region', { name: 'Cost, line by line' }).innerText();
        const cost = `$${(costs[2] ?? 0).toFixed(9).replace(/0+$/, '')}`;
        expect(equation).toContain('× $1.25');
        expect(equation).toContain('× $10.00');
        expect(equation.match(new RegExp(cost.replace('$', '\\$').replace('.', '\\.'), 'g'))?.length).toBeGreaterThanOrEqual(2);
        const balances = await drawer.getByText('→').innerText();
        const [before = 0, after = 0] = balances.split('→').map((text) => Math.round(Number(text.replace(/[$,\s]/g, '')) * 1e9));
        expect(before - after).toBe(Math.round((costs[2] ?? 0) * 1e9));
        const steps = await drawer.getByRole('list', { name: 'Provider attempts, in order' }).locator('li').allInnerTexts();
        expect(steps.map((step) => step.split(/\s/)[0])).toEqual(['gone', 'sandbox']);
        expect(await drawer.innerText()).toContain('Authorization: Bearer $TOLLGATE_API_KEY');
        expect(await drawer.innerText()).not.toContain(stage.secret);
        await page.reload();
        await page.getByRole('dialog').getByText('Charged').waitFor();
        await page.keyboard.press('Escape');
        await page.waitForURL((url) => !url.search.includes('request='));
      },
      TEST_MS,
    );

    test(
      'an export contains exactly the listed requests',
      async () => {
        await open('/requests?range=today&status=ok');
        const lines = (await exported(/CSV/)).trimEnd().split('\r\n').slice(1);
        expect(lines).toHaveLength(await rows().count());
        expect(lines.every((line) => line.includes(`,${ZONE},ok,`))).toBeTrue();
        const models = lines.map((line) => line.split(',')[6] ?? '');
        const shown = await rows().locator('td:nth-child(3)').allInnerTexts();
        expect(shown.map((text) => text.split('\n')[0] ?? '')).toEqual(models);
      },
      TEST_MS,
    );

    test(
      'a large export is prepared, listed when ready, and downloaded as a compressed file',
      async () => {
        // Making fifty thousand requests would take too long, so the response is altered to claim them.
        await page.route('**/api/requests/histogram*', async (route) => {
          const answer = await route.fetch();
          await route.fulfill({ response: answer, json: { ...((await answer.json()) as object), isLarge: true } });
        });
        await open('/requests?range=today&status=ok&cost=0.000001&costMax=5');
        await page.getByRole('button', { name: 'Export' }).click();
        await page.getByRole('menuitem', { name: 'Prepare JSONL file' }).click();
        const files = page.getByRole('region', { name: 'Export files and their progress' });
        await files.getByText('status=ok').waitFor();
        await files.getByText('Ready').waitFor();
        const downloading = page.waitForEvent('download');
        await files.getByRole('link', { name: 'Download' }).click();
        const download = await downloading;
        expect(download.suggestedFilename()).toMatch(/^requests-\d{4}-\d\d-\d\d\.jsonl\.gz$/);
        const text = gunzipSync(await Bun.file(await download.path()).bytes()).toString();
        const models = [...text.matchAll(/"model":"([^"]+)"/gu)].map(([, model]) => model ?? '');
        expect(models).toEqual((await rows().locator('td:nth-child(3)').allInnerTexts()).map((cell) => cell.split('\n')[0] ?? ''));
        await page.unroute('**/api/requests/histogram*');
      },
      TEST_MS,
    );

    test(
      'new requests appear automatically while the list is live',
      async () => {
        await open('/requests?range=today&live=yes');
        const before = await rows().count();
        const client = new OpenAI({ baseURL: `${stage.url}/v1`, apiKey: stage.secret });
        const messages = [{ role: 'user', content: 'Are you there?' }] as const;
        const { usage } = await client.chat.completions.create({ model: 'sandbox/echo', messages: [...messages], user: 'customer-7' });
        costs.push(costIn(usage));
        await rows().nth(before).waitFor({ timeout: 15_000 });
        expect(await rows().first().innerText()).toContain('sandbox/echo');
        await page.getByRole('button', { name: 'Pause' }).click();
        await page.waitForURL((url) => !url.search.includes('live'));
      },
      TEST_MS,
    );

    test(
      'usage equals the sum of the reported costs, in the chosen time zone',
      async () => {
        await open('/usage?range=today&group=model');
        const total = page.locator('tfoot tr');
        const sum = costs.reduce((all, cost) => all + Math.round(cost * 1e9), 0) / 1e9;
        expect(await total.locator('[title^="$"]').getAttribute('title')).toBe(`$${sum.toFixed(9).replace(/0+$/, '')}`);
        expect(await page.getByText(ZONE).count()).toBeGreaterThan(0);
        expect(new URL(page.url()).searchParams.get('zone')).toBe(ZONE);
        await page
          .getByRole('button', { name: `Time zone: ${ZONE}` })
          .first()
          .click();
        await page.getByRole('combobox', { name: 'Time zone' }).selectOption(OTHER_ZONE);
        await page.waitForURL((url) => url.searchParams.get('zone') === OTHER_ZONE);
        await page.getByRole('button', { name: 'Done' }).click();
        expect(await page.locator('main').getByText(OTHER_ZONE).count()).toBeGreaterThan(0);
        const csv = await exported('Chart as CSV');
        expect(csv).toContain(`,${OTHER_ZONE},stage/story,`);
        await page.evaluate(`localStorage.removeItem('tollgate.zone')`);
      },
      TEST_MS,
    );

    test(
      'a URL with a time zone shows the same to everyone',
      async () => {
        await open(`/usage?range=today&zone=${OTHER_ZONE}`);
        expect(await page.locator('main').getByText(OTHER_ZONE).count()).toBeGreaterThan(0);
        await open('/usage?range=today');
        await page.waitForURL((url) => url.searchParams.get('zone') === ZONE);
      },
      TEST_MS,
    );

    const exported = async (item: string | RegExp): Promise<string> => {
      await page.getByRole('button', { name: 'Export' }).click();
      const downloading = page.waitForEvent('download');
      await page.getByRole('menuitem', { name: item }).click();
      return Bun.file(await (await downloading).path()).text();
    };

    test(
      'usage by tag and model counts a request for each tag but once in the total, and so does the exported file',
      async () => {
        await open('/usage?range=6h&metric=requests');
        await page.getByLabel('Group by', { exact: true }).selectOption('tag');
        await page.getByLabel('Then by', { exact: true }).selectOption('model');
        await page.waitForURL(/group=tag.*second=model/);
        const table = page.getByRole('region', { name: 'Usage by tag and model' });
        await table.getByRole('row', { name: /production stage\/story/ }).waitFor();
        const count = (name: string) => table.getByRole('row', { name }).locator('td:nth-child(4)').innerText();
        expect([await count('production stage/story'), await count('web stage/story'), await count('Total')]).toEqual(['2', '2', '6']);
        expect(await page.getByText('A request counts towards every tag of its key, but once in the total.').count()).toBe(1);
        const lines = (await exported('Table as CSV')).trimEnd().split('\r\n');
        expect(lines).toHaveLength((await table.locator('tbody tr').count()) + 2);
        expect(lines.at(-1)).toContain(',total,,');
        await table.getByRole('link', { name: 'stage/story' }).first().click();
        await page.waitForURL(/\/requests\?.*model=stage/);
        await rows().nth(1).waitFor();
        await settled(page);
        expect(await rows().count()).toBe(2);
      },
      TEST_MS,
    );

    test(
      'a short range is shown by the minute, and can be filtered to failures',
      async () => {
        await open('/usage?range=1h');
        expect(await page.getByLabel('Interval', { exact: true }).inputValue()).toBe('minute');
        await page.getByLabel('Status', { exact: true }).selectOption('error');
        await page.waitForURL(/status=error/);
        const found = page.getByRole('region', { name: 'Usage by model' }).locator('tbody tr');
        await found.nth(1).waitFor({ state: 'detached' });
        expect(await found.allInnerTexts()).toEqual([expect.stringContaining('stage/gone')]);
        await page.getByRole('button', { name: 'Clear filters' }).click();
        await page.waitForURL((url) => !url.search.includes('status'));
      },
      TEST_MS,
    );

    test(
      'requests are found by the tag of their key, and by the end user linked from usage',
      async () => {
        await open('/requests?range=today&tag=web');
        expect(await page.getByLabel('Tag', { exact: true }).inputValue()).toBe('web');
        expect(await rows().count()).toBe(6);
        await open('/requests?range=today&tag=unused');
        await page.getByText('No results for these filters').waitFor();
        await open('/usage?range=today&group=end_user');
        await page.getByRole('link', { name: 'customer-7' }).click();
        await page.waitForURL(/\/requests\?.*end_user=customer-7/);
        await settled(page);
        expect(await page.getByLabel('End user', { exact: true }).inputValue()).toBe('customer-7');
        await rows().nth(1).waitFor({ state: 'detached' });
        expect(await rows().count()).toBe(1);
      },
      TEST_MS,
    );

    test(
      'a view is saved with Enter and reopens as it was',
      async () => {
        await open('/usage?range=30d&metric=requests&group=status');
        await page.getByRole('button', { name: 'Views' }).click();
        await page.getByRole('menuitem', { name: /Save/ }).click();
        await page.getByLabel('View name').fill('By status');
        await page.keyboard.press('Enter');
        await open('/usage');
        await page.getByRole('button', { name: 'Views' }).click();
        await page.getByRole('menuitem', { name: 'By status' }).click();
        await page.waitForURL(/group=status/);
      },
      TEST_MS,
    );

    test.each(['/usage?compare=yes', '/usage?range=6h&group=tag&second=model&status=ok', '/requests?status=error&stream=no&tag=web'])(
      '%s is accessible, wide and light, narrow and dark',
      async (path) => {
        await open(path);
        for (const [width, colorScheme] of [
          [1440, 'light'],
          [360, 'dark'],
        ] as const) {
          await page.setViewportSize({ width, height: 900 });
          await page.emulateMedia({ colorScheme });
          expect(await findBarriers(page)).toEqual([]);
          expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0);
        }
        expect(complaints).toEqual([]);
      },
      TEST_MS,
    );
  });
});

function costIn(usage: unknown): number {
  return (usage as { cost: number }).cost;
}
