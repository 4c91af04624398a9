import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { findWebhook, saveWebhook } from '../../src/alerts/webhooks.ts';
import { asNanos } from '../../src/ledger/money.ts';
import { serveHook, type Hook } from '../alerts/hook.ts';
import { openMailbox, type Mailbox } from '../dashboard/mailbox.ts';
import { until } from '../until.ts';
import { reachLoopback } from '../http/media-server.ts';
import { chromiumPath } from '../services/chromium.ts';
import { findBarriers, openStage, overflowOf, type Stage } from './key-stage.ts';

const OPEN_WITHIN_MS = 300_000;
const TEST_MS = 180_000;
const SEEN_WITHIN_MS = 60_000;
/** Alerts are checked twice a minute. */
const FIRED_WITHIN_MS = 60_000;

let stage: Stage;
let mailbox: Mailbox;
let hook: Hook;

describe.skipIf(chromiumPath === undefined)('alerts in a browser', () => {
  beforeAll(async () => {
    mailbox = await openMailbox();
    hook = await serveHook();
    stage = await openStage({ environment: { SMTP_URL: mailbox.url }, reach: reachLoopback() });
  }, OPEN_WITHIN_MS);
  afterAll(async () => {
    await stage.close();
    await mailbox.close();
    hook.stop();
  });

  test(
    'are sent once by email and webhook when a threshold is crossed',
    async () => {
      const { page, account, complaints } = await stage.enterSameTab({ viewport: { width: 1440, height: 900 }, colorScheme: 'light' });
      page.setDefaultTimeout(SEEN_WITHIN_MS);
      await page.goto('/alerts');
      await page.getByText('No alerts yet').waitFor();

      await page.getByLabel('URL').fill('https://hooks.example.com/');
      await page.getByRole('button', { name: 'Save URL' }).click();
      const dialog = page.getByRole('dialog', { name: 'Store the signing secret now' });
      const secret = (await dialog.locator('code').first().textContent()) ?? '';
      expect(secret).toStartWith('whsec_');
      await dialog.getByLabel('I have stored it').check();
      await dialog.getByRole('button', { name: 'Done' }).click();

      // The form refuses the port of a webhook on this machine.
      await saveWebhook(stage.database, account.id, hook.url);
      await page.getByRole('button', { name: 'Send test to webhook' }).click();
      await page.getByText('Test delivered').first().waitFor();
      expect(hook.verified(secret)).toMatchObject([{ kind: 'test' }]);
      await page.getByRole('button', { name: 'Send test email' }).click();
      await page.locator('td').getByText('email', { exact: true }).waitFor();
      await until(
        async () => mailbox.emails.find((email) => email.includes(account.email) && email.includes('Subject: Test alert')),
        SEEN_WITHIN_MS,
      );

      await page.getByRole('button', { name: 'Add alert' }).first().click();
      await page.getByRole('textbox', { name: 'Amount' }).fill('');
      await page.getByRole('checkbox', { name: 'Webhook' }).check();
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('Enter an amount in USD above zero').first().waitFor();
      await page.getByRole('textbox', { name: 'Amount' }).fill('6');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('Balance below $6.00').waitFor();

      await stage.service.accounts.credit(account, asNanos(-5_000_000_000n), { reason: 'test', actor: 'test' });
      await until(
        async () => mailbox.emails.find((email) => email.includes(account.email) && email.includes('Subject: The balance is $5.00')),
        FIRED_WITHIN_MS,
      );
      await until(() => hook.verified(secret).find(({ kind }) => kind === 'low_balance'), FIRED_WITHIN_MS);
      await page.locator('td').getByText('The balance is $5.00').first().waitFor();
      expect(hook.verified(secret).filter(({ kind }) => kind === 'low_balance')).toHaveLength(1);

      await page.getByRole('button', { name: 'Delete: Balance below $6.00' }).click();
      await page.getByText('No alerts yet').waitFor();

      await page.getByRole('button', { name: 'Renew secret' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
      expect((await findWebhook(stage.database, account.id))?.secret).toBe(secret);
      await page.getByRole('button', { name: 'Renew secret' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Renew secret' }).click();
      expect(await dialog.locator('code').first().textContent()).not.toBe(secret);
      await dialog.getByLabel('I have stored it').check();
      await dialog.getByRole('button', { name: 'Done' }).click();
      await page.getByRole('button', { name: 'Remove webhook' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Remove webhook' }).click();
      await page.getByText('Webhook removed').waitFor();
      expect(await findWebhook(stage.database, account.id)).toBeUndefined();
      expect(complaints.filter((text) => !text.includes('400'))).toEqual([]);
    },
    TEST_MS,
  );

  test(
    'have an accessible form, wide and light, narrow and dark',
    async () => {
      const { page, complaints } = await stage.enterSameTab({ viewport: { width: 1440, height: 900 }, colorScheme: 'light' });
      await page.goto('/alerts?form=new');
      await page.getByText('No deliveries yet').waitFor({ state: 'attached' });
      expect(await findBarriers(page)).toEqual([]);
      await page.setViewportSize({ width: 360, height: 800 });
      await page.emulateMedia({ colorScheme: 'dark' });
      expect(await findBarriers(page)).toEqual([]);
      expect(Number(await overflowOf(page))).toBeLessThanOrEqual(0);
      expect(complaints).toEqual([]);
    },
    TEST_MS,
  );

  test(
    'explain the percentage only where 100 means that requests are refused, and name its range',
    async () => {
      const { page, complaints } = await stage.enterSameTab();
      await page.goto('/alerts?form=new');
      await page.getByRole('radio', { name: 'Key near its limit' }).check();
      await page.getByText('At 100, requests are refused.').waitFor();
      await page.getByRole('radio', { name: 'Error rate' }).check();
      await page.getByText('At 100, requests are refused.').waitFor({ state: 'detached' });
      const percent = page.getByLabel('Percent');
      expect(await percent.inputValue()).toBe('10');
      await percent.fill('101');
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
      await page.getByText('Enter a whole number from 1 to 100.').waitFor();
      expect(await findBarriers(page)).toEqual([]);
      await percent.fill('100');
      await page.getByText('Enter a whole number from 1 to 100.').waitFor({ state: 'detached' });
      expect(complaints).toEqual([]);
    },
    TEST_MS,
  );
});
