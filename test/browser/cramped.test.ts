import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'kysely';
import type { Page } from 'playwright-core';
import { PromoCodes } from '../../src/accounts/promo-codes.ts';
import { usd } from '../conformance/money-in/stage.ts';
import { chromiumPath, close } from '../services/chromium.ts';
import { openStage, overflowOf, type Stage, type Visit } from './key-stage.ts';
import { makeOperator } from './operators.ts';
import { settled } from './settled.ts';

/** Long names and addresses on a small phone: every control stays whole and in view. */

const OPEN_WITHIN_MS = 300_000;
const TEST_MS = 300_000;
const LONG = 'Donaudampfschifffahrtsgesellschaftskapitaensmuetze_Produktion_Wien_01';
const EMAIL = `rechtsschutzversicherungsgesellschaften.${'x'.repeat(20)}@donaudampfschifffahrtsgesellschaft.example.com`;
const SETTINGS = {
  plans: [{ id: 'basic', name: LONG, price_usd: 5, included_usd: 6, models: [`ollama/${LONG}`] }],
  payments: { bank_transfer: `Pay to ${LONG}` },
};

describe.skipIf(chromiumPath === undefined)('at 360 px, with long names', () => {
  let stage: Stage;
  let visit: Visit;
  let keyId: string;
  let promoId: string;

  beforeAll(async () => {
    stage = await openStage({ settings: SETTINGS });
    visit = await stage.enter({ viewport: { width: 360, height: 740 }, colorScheme: 'dark' });
    const { context, account } = visit;
    const send = async (method: string, path: string, data: unknown): Promise<Record<string, unknown>> => {
      const answer = await context.request.fetch(`/api/${path}`, { method, data, headers: { origin: stage.service.url } });
      expect([path, answer.ok() ? 'ok' : await answer.text()]).toEqual([path, 'ok']);
      return (await answer.json()) as Record<string, unknown>;
    };
    keyId = String((await send('POST', 'keys', { name: LONG, budgets: { day: '12345.67' }, tags: [LONG.slice(0, 40)] }))['id']);
    await send('POST', `keys/${keyId}/rotate`, { overlapMs: 86_400_000 });
    await send('PUT', 'usage/views', { page: 'usage', name: LONG, search: 'group=key' });
    await send('POST', 'alerts/rules', { kind: 'low_balance', threshold: '12345.67', byMail: true, byWebhook: false });
    await send('POST', 'billing/top-ups', { amountUsd: '1000', provider: 'manual' });
    await send('POST', 'requests/exports', { from: Date.now() - 86_400_000, to: Date.now(), format: 'csv' });
    await sql`INSERT INTO passkeys (id, person_id, name, public_key, credential_id, counter, device_type, backed_up)
      SELECT 'passkey_1', id, ${LONG}, 'x', 'x', 0, 'x', 0 FROM people`.execute(stage.database);
    const rules = { campaign: LONG, usesMax: 1, perAccount: 1, minimumTopUp: usd('0') };
    const [promo] =
      (await new PromoCodes(stage.database).create({ prefix: '', count: 1 }, { kind: 'credit', amount: usd('1') }, rules)) ?? [];
    promoId = promo?.id ?? '';
    await makeOperator(stage.database, account.email);
    await stage.database.updateTable('people').set({ email: EMAIL, name: LONG }).execute();
    await stage.database.updateTable('accounts').set({ email: EMAIL }).where('id', '=', account.id).execute();
  }, OPEN_WITHIN_MS);
  afterAll(async () => {
    await close(visit?.context);
    await stage?.close();
  });

  const PAGES: readonly (readonly [path: () => string, ...buttons: string[]])[] = [
    [() => '/overview'],
    [() => '/keys'],
    [() => '/keys?create=open'],
    [() => `/keys/${keyId}`],
    [() => `/keys/${keyId}`, 'Delete'],
    [() => `/keys/${keyId}`, 'Rotate'],
    [() => `/keys/${keyId}`, 'End overlap now'],
    [() => `/keys/${keyId}?tab=settings`],
    [() => `/keys/${keyId}?tab=history`],
    [() => '/usage'],
    [() => '/usage', 'Views'],
    [() => '/requests'],
    [() => '/billing'],
    [() => '/plans'],
    [() => '/plans?plan=basic'],
    [() => '/alerts'],
    [() => '/alerts', 'Add alert'],
    [() => '/playground'],
    [() => '/start'],
    [() => '/settings'],
    [() => '/settings?tab=security'],
    [() => '/settings?tab=sessions'],
    [() => '/settings?tab=data', 'Delete my account'],
    [() => '/admin'],
    [() => '/admin/accounts'],
    [() => `/admin/accounts/${visit.account.id}`],
    [() => `/admin/accounts/${visit.account.id}`, 'Credit or debit'],
    [() => '/admin/codes'],
    [() => `/admin/codes?campaign=${LONG}`],
    [() => `/admin/codes?code=${promoId}`],
    [() => '/admin/codes?form=open'],
    [() => '/admin/plans'],
    [() => '/admin/plans?plan=basic'],
    [() => '/admin/plans?form=new'],
    [() => '/admin/payments'],
    [() => '/admin/providers'],
    [() => '/admin/audit'],
    [() => '/admin/settings'],
  ];

  test(
    'no page is wider than the window and no control is cut off',
    async () => {
      const { page } = visit;
      const faults: unknown[] = [];
      for (const [path, ...buttons] of PAGES) {
        await page.goto(path());
        await settled(page);
        for (const name of buttons) await page.getByRole('button', { name, exact: true }).first().click();
        await page.evaluate(`Promise.all(document.getAnimations().map(({ finished }) => finished))`);
        const [wideBy, cut] = [await overflowOf(page), await findCut(page)];
        if (wideBy !== 0 || cut.length > 0) faults.push([path(), ...buttons, wideBy, cut]);
      }
      expect(faults).toEqual([]);
    },
    TEST_MS,
  );
});

/** Returns the controls and words that are partly outside of the window, or of a box that does not scroll to show them. */
async function findCut(page: Page): Promise<readonly string[]> {
  return page.evaluate(`(() => {
    const isShown = (element) => element.checkVisibility({ visibilityProperty: true }) && !element.closest('.sr-only, [inert], svg, option');
    const scrolls = (box) => /auto|scroll/.test(getComputedStyle(box).overflowX);
    // Rows of choices, code and tables scroll sideways on purpose.
    const mayScroll = (box) => box.matches('[role=group], [role=region], pre, textarea, nav');
    const isCut = (element, { left, right, width }) => {
      if (width < 2) return false;
      for (let box = element; box !== null; box = box.parentElement) {
        if (scrolls(box)) return box.scrollWidth > box.clientWidth && !mayScroll(box);
        const { overflowX, textOverflow } = getComputedStyle(box);
        if (textOverflow === 'ellipsis') return false;
        const edge = box.getBoundingClientRect();
        if (/hidden|clip/.test(overflowX) && (right > edge.right + 1 || left < edge.left - 1)) return true;
      }
      return right > innerWidth + 1 || left < -1;
    };
    const controls = [...document.querySelectorAll('button, a, input, select, textarea')];
    const found = controls.filter((element) => isShown(element) && isCut(element.parentElement, element.getBoundingClientRect()));
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const range = document.createRange();
      range.selectNodeContents(texts.currentNode);
      const { parentElement } = texts.currentNode;
      if (isShown(parentElement) && isCut(parentElement, range.getBoundingClientRect())) found.push(parentElement);
    }
    return [...new Set(found)].map((element) => element.outerHTML.slice(0, 160));
  })()`);
}
