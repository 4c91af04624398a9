import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'kysely';
import type { Locator, Page } from 'playwright-core';
import { chromiumPath, close } from '../services/chromium.ts';
import { PASSWORD, shareStage, type Stage, type Visit } from './key-stage.ts';

const OPEN_WITHIN_MS = 300_000;
const TEST_MS = 120_000;

/** A dialog: where it is opened, what is typed or chosen in it, and its button. */
interface Question {
  readonly path: (key: string) => string;
  readonly open: (page: Page) => Promise<void>;
  readonly fill: (dialog: Locator) => Promise<void>;
  readonly action: string;
  /** What a new dialog shows in its field. */
  readonly fresh: (dialog: Locator) => Promise<boolean>;
}

const press = (name: string) => (page: Page) => page.getByRole('button', { name, exact: true }).click();
const isEmpty = async (dialog: Locator): Promise<boolean> => (await dialog.getByRole('textbox').first().inputValue()) === '';

const QUESTIONS: Readonly<Record<string, Question>> = {
  'the deletion of a key': {
    path: (id) => `/keys/${id}`,
    open: press('Delete'),
    fill: (dialog) => dialog.getByRole('textbox').fill('ci-runner'),
    action: 'Delete key',
    fresh: isEmpty,
  },
  'the rotation of a key': {
    path: (id) => `/keys/${id}`,
    open: press('Rotate'),
    fill: (dialog) => dialog.getByLabel('No overlap').check(),
    action: 'Rotate',
    fresh: (dialog) => dialog.getByLabel('24 hours').isChecked(),
  },
  'a new key': {
    path: () => '/keys',
    open: (page) => page.getByRole('button', { name: 'Create key' }).first().click(),
    fill: (dialog) => dialog.getByLabel('Name', { exact: true }).fill('another'),
    action: 'Create key',
    fresh: isEmpty,
  },
  'a new view': {
    path: () => '/usage',
    open: async (page) => {
      await page.getByRole('button', { name: 'Views' }).click();
      await page.getByRole('menuitem', { name: 'Save this view' }).click();
    },
    fill: (dialog) => dialog.getByRole('textbox').fill('mine'),
    action: 'Save',
    fresh: isEmpty,
  },
  'the deletion of the account': {
    path: () => '/settings?tab=data',
    open: press('Delete my account'),
    fill: (dialog) => dialog.getByLabel('Password').first().fill('wrong horse battery'),
    action: 'Delete my account',
    fresh: async (dialog) => (await dialog.locator('input').first().inputValue()) === '',
  },
};

describe.skipIf(chromiumPath === undefined)('dialogs and buttons', () => {
  let stage: Stage;
  let visit: Visit;
  let keyId: string;
  beforeAll(async () => {
    stage = await shareStage();
    visit = await stage.enter();
    ({ id: keyId } = await stage.service.keys.create(visit.account.id, { name: 'ci-runner' }));
  }, OPEN_WITHIN_MS);
  afterAll(async () => {
    await close(visit?.context);
    await stage?.close();
  });

  test(
    'in a row say which row they act on',
    async () => {
      const { page, context, account } = visit;
      const headers = { origin: stage.service.url };
      await context.request.post('/api/auth/sign-in/email', { data: { email: account.email, password: PASSWORD }, headers });
      await page.goto('/settings?tab=sessions');
      await page
        .getByRole('button', { name: /^Revoke session: .+127\.0\.0\.1/u })
        .first()
        .waitFor();
      await sql`INSERT INTO passkeys (id, person_id, name, public_key, credential_id, counter, device_type, backed_up)
        SELECT 'passkey_1', id, 'Laptop', 'x', 'x', 0, 'x', 0 FROM people WHERE email = ${account.email}`.execute(stage.database);
      await page.goto('/settings?tab=security');
      await page.getByRole('button', { name: 'Remove passkey Laptop' }).click();
      const dialog = page.getByRole('dialog', { name: 'Remove Laptop?' });
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('button', { name: 'Remove passkey Laptop' }).click();
      await dialog.getByRole('button', { name: 'Remove' }).click();
      await page.getByText('Passkey removed').waitFor();
      await page.getByText('No passkeys yet.').waitFor();
    },
    TEST_MS,
  );

  test(
    'close on a press outside, and ask first once something was typed',
    async () => {
      const { page } = visit;
      await page.goto('/alerts');
      const dialog = page.getByRole('dialog');
      const open = () => page.getByRole('button', { name: 'Add alert' }).first().click();
      const pressOutside = () => page.mouse.click(5, 5);
      await open();
      await dialog.waitFor();
      await pressOutside();
      await dialog.waitFor({ state: 'detached' });
      await open();
      await dialog.getByRole('textbox', { name: 'Amount' }).fill('12');
      await pressOutside();
      await dialog.getByRole('button', { name: 'Keep editing' }).click();
      expect(await dialog.getByRole('textbox', { name: 'Amount' }).inputValue()).toBe('12');
      await pressOutside();
      await dialog.getByRole('button', { name: 'Discard' }).click();
      await dialog.waitFor({ state: 'detached' });
      await open();
      await dialog.waitFor();
      await pressOutside();
      await dialog.waitFor({ state: 'detached' });
    },
    TEST_MS,
  );

  test.each(Object.entries(QUESTIONS))(
    'that ask about %s are fresh when opened again after a failure',
    async (_, { path, open, fill, action, fresh }) => {
      const { page } = visit;
      await page.goto(path(keyId));
      await page.route('**/api/**', (route) => {
        const error = { code: 'broken', message: 'Enough of this.' };
        return route.request().method() === 'GET' ? route.fallback() : route.fulfill({ status: 429, json: { error } });
      });
      const dialog = page.getByRole('dialog');
      await open(page);
      await fill(dialog);
      await dialog.getByRole('button', { name: action, exact: true }).click();
      await dialog.getByText('Enough of this.').waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await dialog.waitFor({ state: 'detached' });
      await open(page);
      await dialog.waitFor();
      expect([await fresh(dialog), await dialog.getByText('Enough of this.').count()]).toEqual([true, 0]);
      await page.unroute('**/api/**');
    },
    TEST_MS,
  );
});
