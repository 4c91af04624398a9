import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { asNanos } from '../../src/ledger/money.ts';
import { chromiumPath } from '../services/chromium.ts';
import { findBarriers, type Look, overflowOf, shareStage, type Stage, type Visit } from './key-stage.ts';

const OPEN_WITHIN_MS = 300_000;
const TEST_MS = 120_000;
/** Generous, because the test machine may be busy. */
const SEEN_WITHIN_MS = 60_000;

let stage: Stage;

describe.skipIf(chromiumPath === undefined)('the operator’s page of an account in a browser', () => {
  beforeAll(async () => {
    stage = await shareStage();
  }, OPEN_WITHIN_MS);
  afterAll(() => stage.close());

  test(
    'is found by part of the email address, and credits once after a review step',
    async () => {
      const owner = await stage.enter();
      const { page, complaints } = await enterAsOperator({ viewport: { width: 1440, height: 900 } });
      await page.goto('/admin/accounts');
      await page.getByRole('searchbox').fill(owner.account.email.slice(3, 30));
      await page.waitForURL(/q=/u);
      await page.getByRole('link', { name: owner.account.email }).click();
      await page.getByRole('heading', { name: owner.account.email }).waitFor();

      await page.getByRole('button', { name: 'Credit or debit' }).click();
      await page.getByLabel('Amount').fill('2.5');
      expect(await page.getByRole('button', { name: 'Review' }).isDisabled()).toBe(true);
      await page.getByLabel('Reason').fill('goodwill');
      await page.getByRole('button', { name: 'Review' }).click();
      const dialog = page.getByRole('dialog', { name: 'Confirm the transaction' });
      await dialog.waitFor();
      for (const text of [owner.account.email, 'goodwill', '$10.00', '$12.50']) await dialog.getByText(text, { exact: true }).waitFor();
      expect(await balanceOf(owner)).toBe(10_000_000_000n);
      expect(await findBarriers(page)).toEqual([]);

      // The response to the first attempt is lost. The second attempt must not credit again.
      let tries = 0;
      await page.route('**/credit', async (route) => {
        tries += 1;
        await route.fetch();
        await (tries === 1 ? route.abort() : route.continue());
      });
      const confirm = dialog.getByRole('button', { name: 'Credit $2.50' });
      await confirm.click();
      await dialog.getByRole('alert').waitFor();
      await dialog.getByRole('button', { name: 'Back' }).click();
      await page.getByRole('button', { name: 'Review' }).click();
      await confirm.click();
      await page.getByText('$2.50 credited').first().waitFor();
      expect(tries).toBe(2);
      expect(await balanceOf(owner)).toBe(12_500_000_000n);
      await see(page, 'goodwill');
      expect(complaints.filter((text) => !text.includes('net::ERR_FAILED'))).toEqual([]);
    },
    TEST_MS,
  );

  test(
    'is found by a secret that stays out of the URL; suspends, resumes, ends all sessions and makes its owner an operator',
    async () => {
      const owner = await stage.enter();
      const { secret } = await stage.service.keys.create(owner.account.id, { name: 'notebook' });
      const { page, complaints } = await enterAsOperator({ viewport: { width: 360, height: 740 } });
      await page.goto('/admin/accounts');
      await page.getByRole('searchbox').fill(secret);
      await page.waitForURL(/q=/u);
      expect(decodeURIComponent(page.url())).toEndWith(`q=${secret.slice(0, 10)}…${secret.slice(-4)}`);
      await page.getByRole('link', { name: owner.account.email }).click();
      expect(await ask(secret)).toBe('200');
      await page.getByRole('button', { name: 'Suspend' }).click();
      await page.getByLabel('Reason').fill('card fraud');
      expect(await overflowOf(page)).toBe(0);
      await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click();
      await see(page, 'Account suspended');
      await expectSoon(secret, '403 account_suspended');
      await page.getByRole('button', { name: 'Resume' }).click();
      await page.getByLabel('Reason').fill('a mistake');
      await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
      await see(page, 'Account active again');
      await expectSoon(secret, '200');

      await page.getByRole('button', { name: 'End all sessions' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'End all sessions' }).click();
      await see(page, 'No active sessions');
      expect((await owner.context.request.get('/api/account')).status()).toBe(401);
      await page.getByRole('button', { name: 'Make operator' }).click();
      const make = page.getByRole('dialog').getByRole('button', { name: 'Make operator' });
      expect(await make.isDisabled()).toBe(true);
      await page.getByRole('dialog').getByRole('textbox').fill(owner.account.email);
      await make.click();
      await see(page, 'Operator role granted');
      expect((await stage.service.accounts.find(owner.account.email))?.isAdmin).toBe(true);
      expect(complaints).toEqual([]);
    },
    TEST_MS,
  );

  test(
    'shows the account as its owner sees it, read-only',
    async () => {
      const owner = await stage.enter();
      const { id, email } = owner.account;
      await stage.service.keys.create(id, { name: 'notebook' });
      const { page, complaints } = await enterAsOperator({ viewport: { width: 1440, height: 900 } });
      await page.goto(`/admin/accounts/${id}`);
      await page.getByRole('link', { name: 'View as owner' }).click();
      await page.waitForURL(({ pathname }) => pathname === `/admin/view/${id}/overview`);
      await see(page, `Viewing ${email} as its owner`);
      await page.getByRole('navigation').getByRole('link', { name: 'API keys' }).click();
      await page.waitForURL(({ pathname }) => pathname === `/admin/view/${id}/keys`);
      await see(page, 'notebook');
      expect(await page.getByRole('link', { name: 'CSV' }).getAttribute('href')).toStartWith(`/api/admin/view/${id}/keys/csv?`);
      expect(await page.getByRole('navigation').getByRole('link', { name: 'Settings' }).count()).toBe(0);
      expect(await findBarriers(page)).toEqual([]);

      expect(await page.getByRole('button', { name: 'Create key' }).isDisabled()).toBeTrue();
      expect(await page.getByRole('button', { name: 'Columns' }).isEnabled()).toBeTrue();
      await page.getByRole('link', { name: 'notebook' }).click();
      await page.getByRole('button', { name: 'Rotate' }).waitFor();
      for (const name of ['Disable', 'Rotate', 'Delete', 'Send test request'])
        expect([name, await page.getByRole('button', { name }).isDisabled()]).toEqual([name, true]);
      // A URL that opens a form directly does not get around this.
      await page.goto(`/admin/view/${id}/keys?create=open`);
      await page.getByRole('textbox', { name: 'Name' }).fill('not mine');
      expect(await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).isDisabled()).toBeTrue();
      await page.keyboard.press('Enter');
      await page.goto(`/admin/view/${id}/requests`);
      await see(page, 'No requests in this range');
      expect(await page.getByRole('main').getByRole('link', { name: 'Send a request' }).count()).toBe(0);
      await stage.database.updateTable('people').set({ email_verified: 0 }).where('email', '=', email).execute();
      await page.goto(`/admin/view/${id}/alerts`);
      await page.getByRole('heading', { name: 'Email' }).waitFor();
      expect(await page.locator('main a[href$="/settings"]').count()).toBe(0);
      expect((await stage.service.keys.list(id)).map(({ name }) => name)).toEqual(['notebook']);
      expect(complaints).toEqual([]);

      await page.setViewportSize({ width: 360, height: 740 });
      await page.goto(`/admin/view/${id}/usage`);
      await see(page, `Viewing ${email} as its owner`);
      expect(await overflowOf(page)).toBe(0);
      await page.goto(`/admin/view/${id}/settings`);
      await page.getByRole('heading', { name: 'Page not found' }).waitFor();
      // Chromium reports an unknown page as an error of its own.
      const unknown = [expect.stringContaining('404')];
      expect(complaints).toEqual(unknown);
      await page.goto(`/admin/view/${id}/overview`);
      await page.getByRole('link', { name: 'Back to operator view' }).click();
      await page.getByRole('heading', { name: email }).waitFor();
      await see(page, 'Account viewed');
      expect(complaints).toEqual(unknown);

      await owner.page.goto(`/admin/view/${id}/overview`);
      await owner.page.getByRole('heading', { name: 'Page not found' }).waitFor();
    },
    TEST_MS,
  );

  test(
    'the audit log names actions and fields in words, with amounts and times as elsewhere, and nothing is cut off',
    async () => {
      const { account } = await stage.enter();
      await stage.service.keys.create(account.id, {
        name: 'a-name-without-spaces',
        requestsPerMinute: 6000,
        expiresAtMs: Date.UTC(2027, 0, 2, 12),
        budgets: { day: asNanos(5_000_000_000n) },
      });
      const { page } = await enterAsOperator();
      for (const width of [360, 768, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        await page.goto(`/admin/audit?subject=${account.id}`);
        await see(page, 'Key created');
        const list = page.getByRole('region', { name: 'Changes, newest first' });
        const text = await list.innerText();
        for (const words of ['Daily limit: $5.00', 'Requests per minute: 6,000', 'Expires: 2 Jan 2027']) expect(text).toContain(words);
        expect(text).not.toMatch(/expiresAtMs|budget\.day|key\.create/u);
        const wideBy = await page.evaluate(
          `((list) => list.scrollWidth - list.clientWidth)(document.querySelector('[aria-label^=Changes]'))`,
        );
        expect([width, wideBy]).toEqual([width, 0]);
      }
      await page.getByRole('combobox', { name: 'Action' }).selectOption('Key created');
      await page.waitForURL(/action=key\.create/u);
    },
    TEST_MS,
  );
});

async function enterAsOperator(look?: Look): Promise<Visit> {
  const visit = await stage.enterSameTab(look);
  visit.page.setDefaultTimeout(SEEN_WITHIN_MS);
  const { email } = visit.account;
  await stage.database.updateTable('accounts').set({ is_admin: 1 }).where('email', '=', email).execute();
  await stage.database.updateTable('people').set({ two_factor_enabled: 1 }).where('email', '=', email).execute();
  await stage.database.updateTable('sessions').set({ passed_second_factor: 1 }).execute();
  return visit;
}

async function balanceOf({ account }: Visit): Promise<bigint | undefined> {
  return (await stage.service.accounts.find(account.email))?.balance;
}

async function see(page: Page, text: string): Promise<void> {
  await page.getByText(text).filter({ visible: true }).first().waitFor();
}

async function ask(secret: string): Promise<string> {
  const answer = await fetch(`${stage.service.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox/hello', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  const { error } = (await answer.json()) as { error?: { code: string } };
  return error === undefined ? String(answer.status) : `${answer.status} ${error.code}`;
}

/** Waits until a change takes effect. The server picks it up within a second, but the machine may be busy. */
async function expectSoon(secret: string, outcome: string): Promise<void> {
  const untilMs = Date.now() + 5000;
  while (Date.now() < untilMs && (await ask(secret)) !== outcome) await Bun.sleep(100);
  expect(await ask(secret)).toBe(outcome);
}
