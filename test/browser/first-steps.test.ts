import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import { buildPages } from '../services/built.ts';
import { chromiumPath, close, launchChromium } from '../services/chromium.ts';
import { until } from '../until.ts';
import { openWorld, type World } from './world.ts';

/** The first visits of a new user, with a real gate behind the pages. */

const OPEN_WITHIN_MS = 120_000;
const TEST_MS = 120_000;
const ATTEMPTS_MAX = 5;

let world: World;
let browser: Browser;

describe.skipIf(chromiumPath === undefined)('a new user', () => {
  let page: Page;

  beforeAll(async () => {
    await buildPages();
    world = await openWorld({ days: 0, creditUsd: '0' });
    browser = await launchChromium();
    const context = await browser.newContext({ reducedMotion: 'reduce', permissions: ['clipboard-write'] });
    await context.addCookies([{ ...world.cookie, url: world.url }]);
    page = await context.newPage();
  }, OPEN_WITHIN_MS);
  afterAll(async () => {
    await close(browser);
    await world?.close();
  });

  /** Opens an empty playground on an account with credit, and types a message without sending it. */
  const typeStoryMessage = async (): Promise<void> => {
    await world.credit('1');
    await page.goto(`${world.url}/playground?model=sandbox%2Fstory`);
    await page.getByLabel('Message').fill('Tell me a story');
  };

  const getStory = async (): Promise<void> => {
    await typeStoryMessage();
    await page.keyboard.press('Enter');
    await page.getByText('As charged.').waitFor();
  };

  const leaveDuringStory = async (): Promise<NewestRequest> => {
    const before = await newestRequest();
    await typeStoryMessage();
    await page.keyboard.press('Enter');
    await page.getByRole('log').getByText('Once').waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Usage' }).click();
    return until(async () => {
      const newest = await newestRequest();
      return newest.id === before.id ? undefined : newest;
    });
  };

  test(
    'sees once that there is no usage yet',
    async () => {
      await page.goto(`${world.url}/overview`);
      await page.getByText('No errors in the last 7 days').waitFor();
      await page.waitForLoadState('networkidle');
      expect(await page.getByText('No usage yet').count()).toBe(1);
    },
    TEST_MS,
  );

  test(
    'creates a key and sends a test request without credit; leaving warns about the secret, then the page forgets it',
    async () => {
      await page.goto(`${world.url}/start`);
      await page.getByRole('button', { name: 'Create key' }).click();
      await page.getByText('It is shown only once.').waitFor();
      expect(await page.locator('pre').innerText()).toMatch(/Bearer sk-tg-\w+/u);
      await page.getByRole('button', { name: 'Python' }).click();
      expect(await page.locator('pre').innerText()).toMatch(/api_key="sk-tg-\w+"/u);
      expect(page.url()).toContain('snippet=python');
      await page.getByRole('listitem').filter({ hasText: 'Create an API key' }).getByText('done').waitFor();
      await page.getByRole('button', { name: 'Send test request' }).click();
      const card = page.getByRole('region', { name: 'Send a test request' });
      await card.getByText('200', { exact: true }).waitFor();
      expect(await card.innerText()).toMatch(/\$0\.00\b/u);
      await page.getByRole('listitem').filter({ hasText: 'Send your first request' }).getByText('done').waitFor();
      // Leaving the page warns until the secret is copied.
      const warnings: string[] = [];
      page.on('dialog', (dialog) => {
        warnings.push(dialog.type());
        void dialog.dismiss();
      });
      const leave = `location.assign('/usage')`;
      await page.evaluate(leave);
      await until(() => warnings.length > 0);
      await page.getByRole('button', { name: 'Copy API key' }).click();
      await page.getByText('Copied API key.').waitFor({ state: 'attached' });
      await page.evaluate(leave);
      await page.waitForURL(/usage/u);
      expect(warnings).toEqual(['beforeunload']);
      page.removeAllListeners('dialog');
      await page.goto(`${world.url}/start`);
      await page.getByText('Set TOLLGATE_API_KEY to one of your keys first.').waitFor();
      expect(await page.locator('pre').innerText()).not.toContain('sk-tg-');
      await page.getByRole('link', { name: 'Create key' }).click();
      await page.getByRole('dialog', { name: 'Create an API key' }).waitFor();
    },
    TEST_MS,
  );

  test(
    'talks to a model in the playground, sees the cost, and can stop an answer',
    async () => {
      await getStory();
      const log = page.getByRole('log');
      expect(await log.innerText()).toContain('This story is canned');
      await page.getByLabel('Message').fill('Another one');
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByText('Stopped.').waitFor();
      await page.getByRole('combobox', { name: 'Model' }).selectOption('sandbox/echo');
      await page.waitForURL(/sandbox%2Fecho/);
      expect((await log.innerText()).toUpperCase()).toContain('SANDBOX STORY');
      await page.getByRole('combobox', { name: 'Model' }).selectOption('sandbox/story');
      expect(await page.locator('pre').innerText()).toContain('Another one');
      await page.getByRole('switch', { name: 'Stream' }).click();
      await page.waitForURL(/stream=no/);
      expect(await page.locator('pre').innerText()).not.toContain('"stream"');
      await page.getByRole('button', { name: 'New conversation' }).click();
      await page.getByLabel('Message').fill('All of it at once');
      await page.keyboard.press('Enter');
      await page.getByText('As charged.').waitFor();
      expect(await log.innerText()).toContain('This story is canned');
    },
    TEST_MS,
  );

  test(
    'gets an answer in the playground after double-clicking Send',
    async () => {
      await typeStoryMessage();
      await page.getByRole('button', { name: 'Send' }).dblclick({ delay: 60 });
      await page.getByText('As charged.').waitFor();
    },
    TEST_MS,
  );

  test(
    'can scroll back in the playground while an answer streams',
    async () => {
      await getStory();
      const log = page.getByRole('log');
      await page.getByLabel('Message').fill('Another one');
      await page.keyboard.press('Enter');
      await log.getByText('Once').nth(1).waitFor();
      const box = `document.querySelector('[role=log]')`;
      expect(Number(await page.evaluate(`${box}.scrollTop`))).toBeGreaterThan(0);
      await page.evaluate(`${box}.scrollTop = 0`);
      await log.getByText('This story is canned').nth(1).waitFor();
      expect(await page.evaluate(`${box}.scrollTop`)).toBe(0);
    },
    TEST_MS,
  );

  test(
    'returns to the same conversation after viewing one of its requests',
    async () => {
      await page.goto(`${world.url}/playground?model=sandbox%2Fecho`);
      await page.getByLabel('System prompt').fill('Answer in verse');
      await page.getByLabel('Message').fill('Something to come back to');
      await page.keyboard.press('Enter');
      const log = page.getByRole('log');
      await log.getByRole('link', { name: 'Request' }).click();
      await page.waitForURL(/requests/);
      await page.goBack();
      await log.getByText('Something to come back to').first().waitFor();
      expect(await page.getByLabel('System prompt').inputValue()).toBe('Answer in verse');
      await page.getByText('As charged.').waitFor();
      await page.getByRole('button', { name: 'New conversation' }).click();
      await log.getByText('No messages yet').waitFor();
    },
    TEST_MS,
  );

  test(
    'stops paying for an answer after leaving the playground',
    async () => {
      await getStory();
      const whole = await newestRequest();
      let left = await leaveDuringStory();
      // A busy machine may be slower to leave than the story is to end.
      for (let attempt = 1; attempt < ATTEMPTS_MAX && left.outcome === 'completed'; attempt += 1) left = await leaveDuringStory();
      expect([whole.outcome, left.outcome]).toEqual(['completed', 'client_gone']);
      expect(Number(left.costUsd)).toBeGreaterThan(0);
      expect(Number(left.costUsd)).toBeLessThan(Number(whole.costUsd));
    },
    TEST_MS,
  );
});

interface NewestRequest {
  readonly id: string;
  readonly outcome: string;
  readonly costUsd: string;
}

async function newestRequest(): Promise<NewestRequest> {
  const { name, value } = world.cookie;
  const span = `from=${Date.now() - 3_600_000}&to=${Date.now() + 60_000}`;
  const answer = await fetch(`${world.url}/api/requests?${span}&limit=1`, { headers: { cookie: `${name}=${value}` } });
  const { requests } = (await answer.json()) as { requests: NewestRequest[] };
  return requests[0] ?? { id: '', outcome: '', costUsd: '' };
}
