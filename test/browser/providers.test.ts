import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import { makeSqlite } from '../dashboard/stores.ts';
import { buildPages } from '../services/built.ts';
import { chromiumPath, close, launchChromium } from '../services/chromium.ts';
import { CLIENT, IdentityProvider } from '../simulator/identity-provider.ts';
import { LifeStage } from './life-stage.ts';

const TEST_MS = 120_000;

describe.skipIf(chromiumPath === undefined)('signing in with another service', () => {
  let provider: IdentityProvider;
  let browser: Browser;
  let life: LifeStage;

  beforeAll(async () => {
    await buildPages();
    provider = await IdentityProvider.start();
    browser = await launchChromium();
    life = await LifeStage.open(await makeSqlite(), browser, {
      OIDC_NAME: 'Acme',
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: CLIENT.clientId,
      OIDC_CLIENT_SECRET: CLIENT.clientSecret,
    });
  }, TEST_MS);
  afterAll(async () => {
    await life?.close();
    await close(browser);
    await provider?.stop();
  });

  test(
    'leads to the first key in one click, and cannot be unlinked while it is the only way to sign in',
    async () => {
      provider.identity = { sub: '1', email: 'ida@example.com', email_verified: true, name: 'Ida' };
      provider.fault = 'denies';
      await life.visit('/sign-up?code=NO-SUCH-CODE');
      await life.press('Continue with Acme');
      await life.see('Acme denied the sign-in.');
      provider.fault = undefined;
      await life.visit('/sign-up?code=NO-SUCH-CODE');
      await life.press('Continue with Acme');
      await life.arrive('/start');
      await life.see(/^sk-tg-/u);
      await life.see('Promo code not accepted');
      await life.visit('/settings?tab=security');
      await life.see('You have no password: you sign in another way.');
      await life.press('Unlink Acme');
      await life.see('This is your only way to sign in.');
      await life.fill('New password', 'correct horse battery');
      await life.see('Good length');
      await life.press('Set password');
      await life.see('Password set');
      await life.press('Unlink Acme');
      await life.see('No linked accounts yet.');
      await life.press('Link Acme');
      await life.see('Acme is linked. You can now sign in with it.');
      await life.signOut();
      await life.visit('/sign-in?to=%2Fkeys');
      await life.press('Continue with Acme');
      await life.arrive('/keys');
      expect(life.complaints).toEqual([]);
    },
    TEST_MS,
  );
});
