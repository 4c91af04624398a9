import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Locator, Page } from 'playwright-core';
import { chromiumPath, close } from '../services/chromium.ts';
import { findBarriers, shareStage, type Stage, type Visit } from './key-stage.ts';

/** Typing into forms, key by key: a page must not change what the user is typing. */

const OPEN_WITHIN_MS = 300_000;
const TEST_MS = 120_000;
/** Collects what the status of the new password says, one text after another. */
const WATCH_STATUS = `window.announced = []; {
  const status = document.querySelector('form [role=status]');
  const note = () => status.textContent !== announced.at(-1) && announced.push(status.textContent);
  new MutationObserver(note).observe(status, { childList: true, characterData: true, subtree: true });
}`;

describe.skipIf(chromiumPath === undefined)('typing', () => {
  let stage: Stage;
  /** For tests that leave the account as it is: a context of their own would take most of their time. */
  let visit: Visit;
  beforeAll(async () => {
    stage = await shareStage();
    visit = await stage.enter();
  }, OPEN_WITHIN_MS);
  afterAll(() => stage?.close());

  test.each([
    ['the statement', '/billing', 'From'],
    ['a range of days', '/usage?range=custom&from=2026-01-05&to=2026-11-15', 'From'],
  ])(
    'a day of %s can be typed and is put into the URL once it is complete',
    async (_, path, label) => {
      const { context, page } = await stage.enter({ locale: 'en-US' });
      await page.goto(path);
      const box = page.getByLabel(label, { exact: true });
      await box.focus();
      const addresses = await watchAddress(page);
      await page.keyboard.type('03152026', { delay: 40 });
      await page.waitForURL(/from=2026-03-15/u);
      expect(await box.inputValue()).toBe('2026-03-15');
      expect((await addresses()).filter((address) => /from=0/u.test(address))).toEqual([]);
      await page.keyboard.press('Backspace');
      await page.keyboard.type('2025', { delay: 40 });
      await page.waitForURL(/from=2025-03-15/u);
      await page.keyboard.press('Backspace');
      await page.keyboard.type('2019', { delay: 40 });
      await box.blur();
      expect(await box.inputValue()).toBe('2025-03-15');
      await close(context);
    },
    TEST_MS,
  );

  test(
    'days of another century are not requested from the server',
    async () => {
      const { page } = visit;
      await page.goto('/usage?range=custom&from=1999-01-01&to=1999-02-01');
      await page.getByText('No usage in this range').first().waitFor();
      expect(await page.getByLabel('From', { exact: true }).getAttribute('min')).toStartWith('2020');
      expect(await page.getByRole('alert').count()).toBe(0);
    },
    TEST_MS,
  );

  test(
    'a new password is judged by the rules of the server, and only a new verdict is announced',
    async () => {
      const { page, account } = visit;
      await page.goto('/settings?tab=security');
      const box = page.getByLabel('New password', { exact: true });
      await box.focus();
      await page.evaluate(WATCH_STATUS);
      await page.keyboard.type('password12', { delay: 20 });
      await page.getByText('Easy to guess').last().waitFor();
      await page.keyboard.type(' of some old toll road', { delay: 20 });
      await page.getByText('Good length').last().waitFor();
      expect(await page.evaluate('announced')).toEqual([
        'Too short',
        expect.stringContaining('Easy to guess'),
        'Long enough',
        'Good length',
      ]);
      await box.fill('x'.repeat(257));
      await page.getByText('1 character too many').waitFor();
      await box.fill(account.email);
      await page.getByText('Easy to guess').last().waitFor();
    },
    TEST_MS,
  );

  test(
    'filter bounds accept different notations, keep their labels, and reject other input',
    async () => {
      const { page } = visit;
      await page.goto('/requests?range=today');
      await page.getByRole('button', { name: 'More filters' }).click();
      const cost = page.getByLabel('Min cost (USD)');
      await cost.fill('.000001');
      await page.waitForURL(/cost=%220\.000001/u);
      await cost.fill('0,000002');
      await page.waitForURL(/cost=%220\.000002/u);
      expect(await page.locator('label', { hasText: 'Min cost (USD)' }).isVisible()).toBe(true);
      await page.getByLabel('Min tokens').fill('many');
      await page.getByText('Enter a whole number.').waitFor();
      await page.getByLabel('Min tokens').fill('1');
      await page.waitForURL(/tokens=%221/u);
      expect(await page.locator('[aria-invalid]').count()).toBe(0);
    },
    TEST_MS,
  );

  test(
    'a dialog focuses its first field, and closing it returns the focus',
    async () => {
      const { page } = visit;
      await page.goto('/alerts');
      await page.getByRole('button', { name: 'Add alert' }).first().press('Enter');
      await page.locator('[role=dialog] input:checked:focus').waitFor();
      await page.keyboard.press('Escape');
      await page.locator('button:focus', { hasText: 'Add alert' }).waitFor();
    },
    TEST_MS,
  );

  test(
    'a filled form outlives the session and can be sent after signing in in another tab',
    async () => {
      const { context, page } = await stage.enterSameTab();
      const cookies = await context.cookies();
      await page.goto('/keys?create=open');
      await page.getByLabel('Name', { exact: true }).fill('begun in time');
      await context.clearCookies();
      await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
      const message = page.getByRole('dialog').getByText('You have been signed out.');
      await message.waitFor();
      expect(await isInView(message)).toBe(true);
      await page.getByRole('dialog').getByRole('link', { name: 'Sign in in a new tab' }).waitFor();
      expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('begun in time');
      expect(await findBarriers(page)).toEqual([]);
      await context.addCookies(cookies);
      await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
      await page.getByRole('dialog', { name: 'Store this secret now' }).waitFor();
      await page.goto('/settings');
      await page.getByLabel('New email address').fill('new@example.com');
      await context.clearCookies();
      await page.getByLabel('New email address').press('Enter');
      await page.getByRole('link', { name: 'Sign in in a new tab' }).waitFor();
      expect(await page.getByLabel('New email address').inputValue()).toBe('new@example.com');
    },
    TEST_MS,
  );

  test.each([360, 1440])(
    'a refused form shows the error in view and focuses the wrong field, at %i px',
    async (width) => {
      const { page } = visit;
      await page.setViewportSize({ width, height: 700 });
      await page.goto('/keys?create=open');
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name', { exact: true }).fill('   ');
      await dialog.getByRole('button', { name: 'Create key' }).click();
      await dialog.locator('input[aria-invalid=true]:focus').waitFor();
      expect(await isInView(dialog.locator('footer p'))).toBe(true);
    },
    TEST_MS,
  );

  test(
    'the folded part of a form stays open when its fields are emptied, and opens for a refused field',
    async () => {
      const { page } = visit;
      await page.goto('/keys?create=open');
      const dialog = page.getByRole('dialog');
      const fold = dialog.getByText('Models, IPs and tags');
      const tags = dialog.getByLabel('Tags');
      await dialog.getByLabel('Name', { exact: true }).fill('folded');
      await fold.click();
      await tags.pressSequentially('a');
      await tags.press('Backspace');
      await tags.pressSequentially('bc');
      expect(await tags.inputValue()).toBe('bc');
      await dialog.getByLabel('Allowed IPs').fill('office');
      await fold.click();
      await tags.waitFor({ state: 'hidden' });
      await dialog.getByRole('button', { name: 'Create key' }).click();
      await dialog.locator('textarea[aria-invalid=true]:focus').waitFor();
      // Seen at the field and beside the buttons, read with the field alone.
      expect([await dialog.getByText(/(?:^Is|^Allowed IPs: is) neither/u).count(), await dialog.getByRole('alert').count()]).toEqual([
        2, 0,
      ]);
    },
    TEST_MS,
  );

  test.each([
    ['en-US', ['12,50', '1.500,00', '1,5 '], '1,500', '1500'],
    ['de-DE', ['12.50', '1,500.00'], '1.000,00', '1000'],
  ])(
    'an amount is read in the format of %s and never guessed',
    async (format, unclear, clear, usd) => {
      const { context, page } = await stage.enter();
      await context.addInitScript(`localStorage.setItem('tollgate.number-format', '${format}')`);
      await page.goto('/keys?create=open');
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name', { exact: true }).fill('thousands');
      const box = dialog.getByLabel('Per day');
      for (const typed of unclear) {
        await box.fill('');
        await box.pressSequentially(typed);
        await box.press('Enter');
        await dialog.getByText('Enter an amount like').waitFor();
        expect(await box.inputValue()).toBe(typed);
      }
      expect(await findBarriers(page)).toEqual([]);
      await box.fill('');
      await box.pressSequentially(clear);
      await box.press('Enter');
      await page.getByRole('dialog', { name: 'Store this secret now' }).waitFor();
      const answer = await context.request.get('/api/keys');
      expect(await answer.json()).toMatchObject({ keys: [{ budgets: [{ period: 'day', usd }] }] });
      await close(context);
    },
    TEST_MS,
  );

  test(
    'digits can be typed in any script, also with an input method editor',
    async () => {
      const { context, page } = visit;
      await page.goto('/models?id=sandbox%2Fecho');
      const box = page.getByRole('dialog').getByLabel('Input tokens');
      await box.fill('');
      await box.pressSequentially('٤٢');
      expect(await box.inputValue()).toBe('42');
      await box.fill('');
      const devtools = await context.newCDPSession(page);
      for (const text of ['１', '１２', '１２３'])
        await devtools.send('Input.imeSetComposition', { text, selectionStart: 3, selectionEnd: 3 });
      await devtools.send('Input.insertText', { text: '１２３' });
      expect(await box.inputValue()).toBe('123');
    },
    TEST_MS,
  );

  test(
    'the sign-in page redirects a signed-in user, and never to another site',
    async () => {
      const { page } = visit;
      for (const [search, path] of [
        ['', '/overview'],
        ['?to=%2Fkeys%3Fq%3Dx', '/keys?q=x'],
        ['?to=https%3A%2F%2Fexample.com%2F', '/overview'],
        ['?to=%2Fsign-in', '/overview'],
      ]) {
        await page.goto(`/sign-in${search}`);
        // Both pages add the time zone to the URL.
        await page.waitForURL(({ href }) => href.startsWith(`${stage.service.url}${path}`));
      }
      await page.goto('/sign-in?error=access_denied');
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    },
    TEST_MS,
  );

  test(
    'signing out in one tab takes every tab to the sign-in page, and later visits too',
    async () => {
      const { context, page } = await stage.enterSameTab();
      await page.goto('/settings');
      await page.getByLabel('Name', { exact: true }).fill('half a na');
      const other = await context.newPage();
      await other.goto('/keys?q=x');
      await other.getByRole('button', { name: /^Account/u }).click();
      await other.getByRole('menuitem', { name: 'Sign out' }).click();
      await other.waitForURL(/\/$/u);
      await page.waitForURL(/\/sign-in$/u);
      await page.goto('/usage?group=key');
      await page.waitForURL(/\/sign-in\?to=%2Fusage/u);
    },
    TEST_MS,
  );
});

/** Whether the element is visible where it is: not scrolled away, and not covered. */
async function isInView(what: Locator): Promise<boolean> {
  const { x, y } = (await what.boundingBox()) ?? { x: -1, y: -1 };
  return (await what.page().evaluate(`document.elementFromPoint(${x + 1}, ${y + 1})?.textContent`)) === (await what.textContent());
}

/** Records every URL the page sets from now on. */
async function watchAddress(page: Page): Promise<() => Promise<readonly string[]>> {
  await page.evaluate(`window.addresses = []; for (const name of ['pushState', 'replaceState']) {
    const change = history[name].bind(history);
    history[name] = (...all) => { addresses.push(String(all[2])); return change(...all); };
  }`);
  return () => page.evaluate('window.addresses');
}
