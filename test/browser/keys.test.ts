import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { chromiumPath } from '../services/chromium.ts';
import { findBarriers, overflowOf, shareStage, type Stage } from './key-stage.ts';
import { settled } from './settled.ts';

const OPEN_WITHIN_MS = 300_000;
const TEST_MS = 120_000;
/** Generous, because the test machine may be busy. */
const SEEN_WITHIN_MS = 60_000;

let stage: Stage;

describe.skipIf(chromiumPath === undefined)('API keys in a browser', () => {
  beforeAll(async () => {
    stage = await shareStage();
  }, OPEN_WITHIN_MS);
  afterAll(() => stage.close());

  test(
    'go through their whole life, from creation to deletion',
    async () => {
      const { page, complaints } = await stage.enterSameTab({ viewport: { width: 1440, height: 900 }, colorScheme: 'light' });
      page.setDefaultTimeout(SEEN_WITHIN_MS);
      await page.goto('/keys');
      await see(page, 'No API keys yet');

      const secret = await create(page);
      expect(await ask(secret)).toBe('200');
      await see(page, 'website');
      expect(await page.content()).not.toContain(secret.slice(12, -6));

      for (let count = 0; count < 100 && (await ask(secret)) === '200'; count += 1);
      expect(await ask(secret)).toBe('403 insufficient_quota');
      await page.locator('td').getByText('Limit reached').filter({ visible: true }).waitFor();

      await page.getByRole('link', { name: 'website' }).click();
      await page.getByRole('heading', { name: 'website' }).waitFor();
      await see(page, 'refused a request');
      await changeLimit(page);
      await expectSoon(secret, '200');

      await page.getByRole('button', { name: 'Send test request' }).click();
      await see(page, 'sandbox/hello');
      await page.getByText('200', { exact: true }).waitFor();

      const second = await rotate(page);
      expect([await ask(secret), await ask(second)]).toEqual(['200', '200']);
      await page.getByRole('button', { name: 'End overlap now' }).click();
      await page.getByRole('button', { name: 'End overlap', exact: true }).click();
      await expectSoon(secret, '401 invalid_api_key');
      expect(await ask(second)).toBe('200');

      await page.getByRole('button', { name: 'Disable' }).click();
      await expectSoon(second, '401 key_disabled');
      await page.getByRole('button', { name: 'Enable' }).click();
      await expectSoon(second, '200');

      await page.getByRole('button', { name: 'History' }).click();
      await see(page, 'Ended the overlap');
      await see(page, 'slow down');
      await page.getByRole('button', { name: 'Delete' }).click();
      const sure = page.getByRole('button', { name: 'Delete key' });
      expect(await sure.isDisabled()).toBe(true);
      await page.getByLabel('Type website to confirm').fill('website');
      await sure.click();
      await see(page, 'No API keys yet');
      await expectSoon(second, '401 invalid_api_key');
      expect(complaints).toEqual([]);
    },
    TEST_MS,
  );

  test(
    'are refused with an error at the wrong field, and several are deleted at once',
    async () => {
      const { page, account } = await stage.enterSameTab({ viewport: { width: 360, height: 800 }, colorScheme: 'dark' });
      page.setDefaultTimeout(SEEN_WITHIN_MS);
      await page.goto('/keys?create=open');
      await page.getByLabel('Name', { exact: true }).fill('office');
      await page.getByText('Models, IPs and tags').click();
      await page.getByLabel('Allowed IPs').fill('10.0.0.0/8\noffice');
      await page.getByRole('button', { name: 'Create key' }).last().click();
      await see(page, 'is neither an address nor a block');
      // Read once: with the field, which is focused.
      expect(await page.locator('textarea:focus').getAttribute('aria-describedby')).toContain('-error');
      expect(await page.getByRole('alert').count()).toBe(0);
      await page.getByLabel('Allowed IPs').fill('10.0.0.0/8');
      await page.getByRole('button', { name: 'Create key' }).last().click();
      const secret = await store(page);
      expect(await ask(secret)).toBe('403 address_not_allowed');

      await stage.service.keys.create(account.id, { name: 'second' });
      await page.goto('/keys?q=office');
      await page.getByRole('link', { name: 'office' }).waitFor();
      expect(await page.getByRole('link', { name: 'second' }).count()).toBe(0);
      await page.goto('/keys');
      await page.getByLabel('Select all keys shown').check();
      await page.getByRole('button', { name: 'Delete' }).click();
      await page.getByLabel('Type delete 2 to confirm').fill('delete 2');
      await page.getByRole('button', { name: 'Delete keys' }).click();
      await see(page, 'No API keys yet');
    },
    TEST_MS,
  );

  test(
    'are listed in the order that the header marks, also by a link that names only the column',
    async () => {
      const { page, account } = await stage.enterSameTab({ viewport: { width: 1440, height: 900 } });
      for (const name of ['beta', 'alpha', 'gamma']) {
        await stage.service.keys.create(account.id, { name });
        // No two are created in the same millisecond.
        await Bun.sleep(2);
      }
      const marked = page.getByRole('columnheader').and(page.locator('[aria-sort=ascending], [aria-sort=descending]'));
      const shown = async (): Promise<readonly (string | null)[]> => {
        await page.getByRole('link', { name: 'beta' }).waitFor();
        const names = await page.locator('tbody a').allTextContents();
        return [await marked.textContent(), await marked.getAttribute('aria-sort'), ...names];
      };
      await page.goto('/keys?sort=name');
      expect(await shown()).toEqual(['Name', 'ascending', 'alpha', 'beta', 'gamma']);
      await page.getByRole('button', { name: 'Name' }).click();
      await page.locator('[aria-sort=descending]').waitFor();
      expect(await shown()).toEqual(['Name', 'descending', 'gamma', 'beta', 'alpha']);
      await page.goto('/keys?sort=created&hide=none');
      expect(await shown()).toEqual(['Created', 'descending', 'gamma', 'alpha', 'beta']);
    },
    TEST_MS,
  );

  test(
    'are created once by a double click',
    async () => {
      const { page, account } = await stage.enterSameTab();
      await page.goto('/keys?create=open');
      await page.getByLabel('Name', { exact: true }).fill('once');
      await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).dblclick();
      await page.getByRole('dialog', { name: 'Store this secret now' }).waitFor();
      expect((await stage.service.keys.list(account.id)).map(({ name }) => name)).toEqual(['once']);
    },
    TEST_MS,
  );

  test(
    'are deleted by typing their visible name, whatever spaces and invisible characters it contains',
    async () => {
      const { page, account } = await stage.enterSameTab();
      const { id } = await stage.service.keys.create(account.id, { name: 'two  cafe\u0301s\u200B' });
      await page.goto(`/keys/${id}`);
      await page.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('dialog').getByRole('textbox').fill('two cafés');
      await page.getByRole('button', { name: 'Delete key' }).click();
      await see(page, 'No API keys yet');
    },
    TEST_MS,
  );

  test(
    'can allow a whole provider, and the playground key is listed separately',
    async () => {
      const { page, context } = await stage.enterSameTab({ viewport: { width: 1440, height: 900 } });
      page.setDefaultTimeout(SEEN_WITHIN_MS);
      await context.request.post('/api/playground/key', { headers: { origin: stage.service.url } });
      await page.goto('/keys');
      await see(page, 'No API keys yet');
      await see(page, 'Playground key');
      await page.getByRole('button', { name: 'Create key' }).first().click();
      await page.getByLabel('Name', { exact: true }).fill('only the sandbox');
      await page.getByText('Models, IPs and tags').click();
      await page.getByLabel('Only selected models').check();
      await page.getByRole('group', { name: 'Allowed models' }).getByLabel('sandbox/*').check();
      expect(await page.getByRole('group', { name: 'Allowed models' }).getByLabel('sandbox/echo').isChecked()).toBe(true);
      await page.getByRole('button', { name: 'Create key' }).last().click();
      expect(await ask(await store(page))).toBe('200');
      await page
        .getByRole('row', { name: /only the sandbox/u })
        .getByText('1 provider')
        .waitFor();
      await page.getByRole('link', { name: 'Limits and usage' }).click();
      await page.getByRole('heading', { name: 'Playground' }).waitFor();
      expect(await page.getByRole('button', { name: 'Rotate' }).count()).toBe(0);
    },
    TEST_MS,
  );

  test(
    'have accessible pages, wide and light, narrow and dark',
    async () => {
      const { page, account, complaints } = await stage.enterSameTab();
      const { id } = await stage.service.keys.create(account.id, {
        name: 'a key with a rather long name, as people give them',
        tags: ['team=blue'],
      });
      for (const path of [
        '/keys',
        '/keys?create=open',
        `/keys/${id}`,
        `/keys/${id}?tab=settings`,
        `/keys/${id}?tab=history`,
        '/keys/key_unknown',
      ]) {
        await page.goto(path);
        await settled(page);
        for (const [colorScheme, viewport] of [
          ['light', { width: 1440, height: 900 }],
          ['dark', { width: 360, height: 800 }],
        ] as const) {
          await page.setViewportSize(viewport);
          await page.emulateMedia({ colorScheme });
          expect([path, colorScheme, await findBarriers(page)]).toEqual([path, colorScheme, []]);
          expect(Number(await overflowOf(page))).toBeLessThanOrEqual(0);
        }
      }
      expect(complaints.filter((text) => !text.includes('404'))).toEqual([]);
    },
    TEST_MS,
  );
});

async function create(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Create key' }).first().click();
  await page.getByLabel('Name', { exact: true }).fill('website');
  await page.getByLabel('Per day').fill('0.000012');
  await page.getByLabel('Per month').fill('5');
  await page.getByRole('button', { name: 'Create key' }).last().click();
  return store(page);
}

/** Reads the secret from the dialog and its .env file, and closes the dialog. Escape alone does not close it. */
async function store(page: Page): Promise<string> {
  const dialog = page.getByRole('dialog', { name: 'Store this secret now' });
  const secret = (await dialog.locator('code').first().textContent()) ?? '';
  expect(secret).toStartWith('sk-tg-');
  const code = dialog.locator('pre');
  for (const text of [secret, '"model":"sandbox/']) expect(await code.textContent()).toContain(text);
  await dialog.getByRole('button', { name: 'LangChain' }).click();
  expect(await code.textContent()).toContain(`api_key="${secret}"`);
  const download = page.waitForEvent('download');
  await dialog.getByRole('button', { name: 'Download .env' }).click();
  expect(readFileSync(await (await download).path(), 'utf8')).toContain(`OPENAI_API_KEY=${secret}`);
  await page.keyboard.press('Escape');
  const done = dialog.getByRole('button', { name: 'Done' });
  expect(await done.isDisabled()).toBe(true);
  await dialog.getByLabel('I have stored it').check();
  await done.click();
  await dialog.waitFor({ state: 'hidden' });
  return secret;
}

async function changeLimit(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Settings', exact: true }).click();
  await page.getByLabel('Per day').fill('5');
  await page.getByLabel('Slow down').check();
  await page.getByLabel('Time zone of limits').selectOption('Asia/Tokyo');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await see(page, 'No unsaved changes');
  await page.getByRole('button', { name: 'Overview' }).click();
  await see(page, 'slows down, $');
  await see(page, ', Asia/Tokyo');
}

async function rotate(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Rotate' }).click();
  await page.getByLabel('1 hour').check();
  await page.getByRole('button', { name: 'Rotate' }).last().click();
  return store(page);
}

async function see(page: Page, text: string): Promise<void> {
  await page.getByText(text).first().waitFor();
}

/** Sends a request and returns its status, with the error code if there is one. */
async function ask(secret: string): Promise<string> {
  const response = await fetch(`${stage.service.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 1 }),
  });
  const { error } = (await response.json()) as { error?: { code: string } };
  return error === undefined ? String(response.status) : `${response.status} ${error.code}`;
}

/** Waits until a change takes effect. The server picks it up within a second. */
async function expectSoon(secret: string, expected: string): Promise<void> {
  const deadline = performance.now() + 5000;
  while ((await ask(secret)) !== expected && performance.now() < deadline) await Bun.sleep(50);
  expect(await ask(secret)).toBe(expected);
}
