import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { openMailbox, type Mailbox } from '../dashboard/mailbox.ts';
import { chromiumPath } from '../services/chromium.ts';
import { findBarriers, openStage, overflowOf, type Stage } from './key-stage.ts';

const OPEN_WITHIN_MS = 300_000;
const TEST_MS = 180_000;
const SEEN_WITHIN_MS = 60_000;

describe.skipIf(chromiumPath === undefined)('the operator’s settings in a browser', () => {
  let stage: Stage;
  let mailbox: Mailbox;
  beforeAll(async () => {
    mailbox = await openMailbox();
    stage = await openStage({ environment: { SMTP_URL: mailbox.url, STRIPE_SECRET_KEY: 'sk_test_simulated' } });
  }, OPEN_WITHIN_MS);
  afterAll(async () => {
    await stage.close();
    await mailbox.close();
  });

  test(
    'an operator reads the settings, sends a test email, creates an invitation and shows a banner',
    async () => {
      const ada = await stage.enter();
      const { page, account, complaints } = await stage.enterSameTab({ viewport: { width: 360, height: 800 } });
      page.setDefaultTimeout(SEEN_WITHIN_MS);
      await stage.database.updateTable('accounts').set({ is_admin: 1 }).where('id', '=', account.id).execute();
      await stage.database.updateTable('people').set({ two_factor_enabled: 1 }).where('email', '=', account.email).execute();
      await stage.database.updateTable('sessions').set({ passed_second_factor: 1 }).execute();
      await page.goto('/admin/settings');
      await page.getByRole('row', { name: /SMTP_URL, environment 127\.0\.0\.1/u }).waitFor();
      await page.getByRole('row', { name: /STRIPE_SECRET_KEY, environment set/u }).waitFor();
      expect(await page.content()).not.toContain('sk_test');

      await page.getByRole('button', { name: 'Send test email' }).click();
      await page.getByText('The mail server accepted the email').waitFor();
      expect(mailbox.emails.some((email) => email.includes('Subject: Test email from Tollgate') && email.includes(account.email))).toBe(
        true,
      );

      await page.getByLabel('Only for this email address').fill('grace@example.com');
      await page.getByRole('button', { name: 'Create link' }).click();
      const link = (await page.getByText(/\/sign-up\?invitation=/u).textContent()) ?? '';
      await page.getByText('grace@example.com').waitFor();
      await page.getByRole('button', { name: 'Withdraw' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click();
      await page.getByText('Invitation withdrawn').waitFor();
      await page.getByText('No open invitations').waitFor();
      const token = link.split('=').at(-1) ?? '';
      expect(await (await ada.context.request.get(`/api/invitations/${token}`)).json()).toMatchObject({ state: 'expired' });

      await page.getByLabel('Text').fill('Maintenance at ten.');
      await page.getByLabel('Tone').selectOption('Warning');
      await page.getByRole('button', { name: 'Show banner' }).click();
      await page.getByRole('status').filter({ hasText: 'Maintenance at ten.' }).waitFor();
      expect(await findBarriers(page)).toEqual([]);
      expect(await overflowOf(page)).toBe(0);
      for (const path of ['/keys', '/models']) {
        await ada.page.goto(path);
        await ada.page.getByRole('status').filter({ hasText: 'Maintenance at ten.' }).waitFor();
      }
      await page.getByRole('button', { name: 'Remove banner' }).click();
      await page.getByText('Banner removed').waitFor();
      await page.getByRole('status').filter({ hasText: 'Maintenance at ten.' }).waitFor({ state: 'detached' });
      expect([...complaints, ...ada.complaints]).toEqual([]);
    },
    TEST_MS,
  );

  test(
    'the first steps show what is set up and what is missing, and send a test email',
    async () => {
      const { page, account, complaints } = await stage.enterSameTab({ viewport: { width: 360, height: 800 } });
      page.setDefaultTimeout(SEEN_WITHIN_MS);
      await stage.database.updateTable('accounts').set({ is_admin: 1 }).where('id', '=', account.id).execute();
      await stage.database.updateTable('people').set({ two_factor_enabled: 1 }).where('email', '=', account.email).execute();
      await stage.database.updateTable('sessions').set({ passed_second_factor: 1 }).execute();
      await page.goto('/admin/first-steps');
      const step = (title: string) => page.getByRole('listitem').filter({ hasText: title });
      await step('Set the public address').getByText('PUBLIC_URL=https://gate.example.com').waitFor();
      await step('Connect a provider').getByText('ANTHROPIC_API_KEY').waitFor();
      await step('Accept payments').getByText('STRIPE_WEBHOOK_SECRET=whsec_…').waitFor();
      await step('Make backups').getByText('backup --to').waitFor();
      let sent = 0;
      await page.route('**/test-letter', async (route) => {
        sent += 1;
        await Bun.sleep(300);
        await route.continue();
      });
      await step('Set up email').getByRole('button', { name: 'Send test email' }).focus();
      // Pressing Enter twice by mistake sends once and keeps the focus on the button.
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Send test email', disabled: true }).waitFor();
      await page.keyboard.press('Enter');
      await page.getByText('The mail server accepted the email').waitFor();
      expect(sent).toBe(1);
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Send test email');
      expect(await page.getByText('2 of 6 done').isVisible()).toBe(true);
      expect(await page.getByText('The service is ready').count()).toBe(0);
      expect(await findBarriers(page)).toEqual([]);
      expect(await overflowOf(page)).toBe(0);
      expect(complaints).toEqual([]);
    },
    TEST_MS,
  );
});
