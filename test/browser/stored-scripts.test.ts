import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { chromiumPath } from '../services/chromium.ts';
import {
  FAILING,
  HOSTILE,
  HOSTILE_TOGETHER,
  hostile,
  hostileSettings,
  MODEL,
  plant,
  type Planted,
  startHostileUpstream,
  TURNED,
} from './hostile-world.ts';
import { openStage, type Stage, type Visit } from './key-stage.ts';
import { makeOperator } from './operators.ts';

const TEST_MS = 240_000;
const SEEN_WITHIN_MS = 60_000;

/** A page and the planted texts it shows. */
type Shown = readonly [path: string, ...fields: readonly string[]];

describe.skipIf(chromiumPath === undefined)('hostile texts', () => {
  let upstream: ReturnType<typeof startHostileUpstream>;
  let stage: Stage;
  let visit: Visit;
  let planted: Planted;
  const events: string[] = [];

  beforeAll(async () => {
    upstream = startHostileUpstream();
    stage = await openStage({ settings: hostileSettings(upstream.url) });
    visit = await stage.enter({ viewport: { width: 1440, height: 900 } });
    listen(visit.page);
  }, TEST_MS);
  afterAll(async () => {
    await stage?.close();
    await upstream?.stop();
  });

  const listen = (page: Page): void => {
    page.setDefaultTimeout(SEEN_WITHIN_MS);
    page.on('dialog', (dialog) => {
      events.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('console', (message) => {
      if (/content.security.policy|refused to/iu.test(message.text())) events.push(message.text());
    });
    page.on('pageerror', (error) => events.push(error.message));
  };
  const open = async (path: string): Promise<void> => {
    await visit.page.goto(path, { waitUntil: 'load' });
    await visit.page
      .locator('h1')
      .first()
      .waitFor()
      .catch(async () => {
        throw new Error(`${path} shows no heading, only: ${await visit.page.locator('body').innerText()}`);
      });
  };
  const see = (...fields: readonly string[]): Promise<unknown> =>
    Promise.all(fields.map((field) => visit.page.getByText(hostile(field)).first().waitFor({ state: 'attached' })));
  const quiet = (path: string): void => expect([path, events]).toEqual([path, []]);
  const visitAll = async (shown: readonly Shown[]): Promise<void> => {
    for (const [path, ...fields] of shown) {
      await open(path);
      await see(...fields).catch((error: unknown) => {
        throw new Error(`${path}: ${String(error)}`);
      });
      expect(new URL(visit.page.url()).pathname).toBe(path.split('?')[0] ?? '');
      quiet(path);
    }
  };

  test(
    'are shown and never run on any page, and violate no content policy',
    async () => {
      const { page } = visit;
      planted = await plant(stage, visit);
      const { keyId, requestId, invitation } = planted;
      const shown: readonly Shown[] = [
        ['/overview', 'key name'],
        ['/start'],
        ['/keys', 'key name'],
        [`/keys/${keyId}`, 'key name'],
        [`/keys/${keyId}?tab=settings`],
        [`/keys/${keyId}?tab=history`, 'key name'],
        ['/usage?group=key', 'key name'],
        ['/usage?group=end_user', 'user'],
        ['/requests', 'key name', 'export'],
        [`/requests?request=${requestId}`, 'question', 'user', 'answer', 'served model'],
        ['/billing', 'credit reason', 'payment'],
        ['/plans', 'plan name'],
        ['/alerts', 'alert title', 'problem'],
        ['/models', 'model name'],
        [`/models?id=${MODEL}`, 'model name'],
        ['/status'],
        ['/settings?tab=security', 'passkey', 'linked', 'sso'],
        ['/settings?tab=sessions', 'address'],
        ['/settings?tab=data'],
      ];
      await visitAll(shown);
      await open('/settings?tab=profile');
      expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe(hostile('profile name'));
      await open('/usage');
      await page.getByRole('button', { name: 'Views' }).click();
      await page.getByRole('menuitem', { name: hostile('view') }).click();
      await page.locator('h1').first().waitFor();
      await open('/billing');
      await page.getByRole('button', { name: 'Get a reference for' }).click();
      await see('bank transfer');
      const guest = await stage.browser.newPage({ baseURL: stage.service.url });
      listen(guest);
      await guest.goto(`/sign-up?invitation=${invitation}`);
      await guest.getByLabel('Email address', { exact: true }).waitFor();
      expect(await guest.getByLabel('Email address', { exact: true }).inputValue()).toBe(hostile('invited'));
      await guest.close();
      quiet('the forms');
    },
    TEST_MS,
  );

  test(
    'are shown and never run on operator pages',
    async () => {
      await makeOperator(stage.database, visit.account.email);
      await visitAll([
        ['/admin', 'banner'],
        ['/admin/accounts'],
        [`/admin/accounts/${visit.account.id}`, 'key name', 'credit reason', 'address'],
        ['/admin/requests', 'key name'],
        [`/admin/requests?request=${planted.requestId}`, 'user', 'served model'],
        ['/admin/payments', 'payment'],
        ['/admin/payments?view=problems'],
        ['/admin/payments?view=events'],
        ['/admin/codes', 'campaign'],
        ['/admin/plans', 'plan name'],
        ['/admin/models'],
        [`/admin/models?id=${MODEL}`, 'model name'],
        ['/admin/providers?id=own', 'served model'],
        ['/admin/audit', 'actor', 'credit reason', 'key name'],
        ['/admin/settings', 'sso', 'invited'],
      ]);
      for (const text of HOSTILE_TOGETHER) {
        const word = encodeURIComponent(text);
        for (const path of ['accounts?q=', 'accounts/', 'requests?account=', 'requests?request=', 'payments?reference=', 'codes?campaign='])
          await open(`/admin/${path}${word}`);
        for (const path of ['plans?id=', 'models?id=', 'providers?id=', 'audit?subject=']) await open(`/admin/${path}${word}`);
        quiet(text);
      }
    },
    TEST_MS,
  );

  test(
    'from models and providers are plain text in the playground',
    async () => {
      const { page } = visit;
      await open(`/playground?model=${encodeURIComponent(MODEL)}`);
      await page.getByLabel('Message').fill(hostile('question'));
      await page.getByRole('button', { name: 'Send' }).click();
      await see('question', 'answer');
      await open(`/playground?model=${encodeURIComponent(FAILING)}`);
      await page.getByLabel('Message').fill('Hello');
      await page.getByRole('button', { name: 'Send' }).click();
      await see('provider error');
      quiet('/playground');
    },
    TEST_MS,
  );

  test.each([
    ['the tags of a key', 'keys', { name: 'tagged', tags: [hostile('tag')] }],
    ['the addresses of a key', 'keys', { name: 'placed', addresses: [hostile('address')] }],
    ['the models of a key', 'keys', { name: 'modelled', models: [hostile('model')] }],
    ['the zone of a key', 'keys', { name: 'zoned', limitZone: hostile('zone') }],
    ['the name of a key, with terminal control characters', 'keys', { name: 'red \u001B[31m' }],
    ['the name of a key, with characters that change the text direction', 'keys', { name: TURNED }],
    ['an alert', 'alerts/rules', { kind: hostile('kind'), threshold: '1', byMail: true, byWebhook: false }],
    ['an address to sign up with', 'auth/sign-up/email', { email: `${hostile('mail')}@example.com`, password: 'correct horse battery' }],
    ['an amount', 'billing/top-ups', { amountUsd: hostile('amount'), provider: 'manual' }],
  ])('are refused in fields with a fixed format: %s', async (_, path, data) => {
    const answer = await visit.context.request.post(`/api/${path}`, { data, headers: { origin: stage.service.url } });
    expect(answer.status()).toBe(400);
  });

  test(
    'in URLs never run',
    async () => {
      // `javascript:` works only at the start of a value; the others work anywhere in it.
      for (const text of [HOSTILE.join(' '), 'javascript:alert(5)']) {
        const word = encodeURIComponent(text);
        for (const path of [
          `/models?q=${word}&id=${word}`,
          `/keys?q=${word}&status=${word}`,
          `/keys/${word}`,
          `/usage?model=${word}&group=${word}`,
          `/requests?model=${word}&request=${word}`,
          `/billing?payment=${word}`,
          `/playground?model=${word}`,
          `/sign-up?code=${word}`,
          `/sign-up?invitation=${word}`,
          `/verify?email=${word}`,
          `/reset?token=${word}`,
          `/sign-in?to=${word}`,
          `/sign-in?error=${word}&with=${word}`,
          `/settings?tab=security&error=${word}&with=${word}&linked=${word}`,
          `/setup?token=${word}`,
        ]) {
          await open(path);
          quiet(path);
        }
      }
    },
    TEST_MS,
  );
});
