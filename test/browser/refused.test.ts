import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import OpenAI, { APIError } from 'openai';
import type { Page } from 'playwright-core';
import { Keys } from '../../src/accounts/keys.ts';
import { chromiumPath } from '../services/chromium.ts';
import { until } from '../until.ts';
import { shareStage, type Stage } from './key-stage.ts';
import { makeOperator } from './operators.ts';

const OPEN_WITHIN_MS = 300_000;
const TEST_MS = 180_000;
const SEEN_WITHIN_MS = 60_000;

let stage: Stage;

/** Sends a wrong request with the official client and returns its error. */
async function refusalOf(secret: string, mistake: object): Promise<APIError> {
  const client = new OpenAI({ apiKey: secret, baseURL: `${stage.service.url}/v1`, maxRetries: 0 });
  const request = { model: 'sandbox/echo', messages: [{ role: 'user' as const, content: 'Hello' }], ...mistake };
  const thrown: unknown = await client.chat.completions.create(request).catch((error: unknown) => error);
  if (!(thrown instanceof APIError)) throw new Error('The request was not refused.');
  return thrown;
}

const rowsOf = (page: Page) => page.getByRole('region', { name: 'Refused requests, newest first' }).locator('tbody tr');

const untilRecorded = (id: string): Promise<unknown> =>
  until(() => stage.database.selectFrom('refusals').select('request_id').where('request_id', '=', id).executeTakeFirst(), SEEN_WITHIN_MS);

/** Returns the message of an error, without the status that the client puts before it. */
const messageOf = ({ message }: APIError): string => message.replace(/^\d{3} /u, '');

describe.skipIf(chromiumPath === undefined)('refused requests in a browser', () => {
  beforeAll(async () => {
    stage = await shareStage();
  }, OPEN_WITHIN_MS);
  afterAll(() => stage.close());

  test(
    'a developer finds by its ID why a request was refused, and lists all refused requests',
    async () => {
      const { page, account, complaints } = await stage.enterSameTab({ viewport: { width: 1440, height: 900 } });
      page.setDefaultTimeout(SEEN_WITHIN_MS);
      const { secret } = await new Keys(stage.database).create(account.id, { name: 'my program' });
      const wrong = await refusalOf(secret, { temperature: 9, stream: true });
      const unknown = await refusalOf(secret, { model: 'sandbox/parrot' });

      await page.goto('/requests?view=refused&live=yes');
      await rowsOf(page).getByText('sandbox/parrot').waitFor();
      expect(await rowsOf(page).count()).toBe(2);
      await page.getByLabel('Status').selectOption('400');
      await page.waitForURL(/http=/u);
      await rowsOf(page).nth(1).waitFor({ state: 'detached' });
      expect(await rowsOf(page).innerText()).toContain(messageOf(wrong));

      await page.goto('/requests');
      await page.getByLabel('Request ID').fill(unknown.requestID ?? '');
      await page.getByText('This request was refused before it reached a provider').waitFor();
      expect(await rowsOf(page).innerText()).toContain('model_not_found');
      await page.getByLabel('Request ID').fill(wrong.requestID ?? '');
      await rowsOf(page).getByText('decimal_above_max_value').click();
      const drawer = page.getByRole('dialog', { name: 'Request' });
      await drawer.getByText(messageOf(wrong)).waitFor();
      const shown = await drawer.innerText();
      const facts = ['decimal_above_max_value, status 400', 'temperature', 'sandbox/echo', 'my program', 'Requested'];
      for (const text of [wrong.requestID ?? '', ...facts]) expect(shown).toContain(text);
      await page.reload();
      await drawer.getByText(messageOf(wrong)).waitFor();
      await page.keyboard.press('Escape');
      await page.waitForURL((url) => !url.search.includes('request='));

      await page.getByRole('button', { name: 'Clear filters' }).click();
      await rowsOf(page).nth(1).waitFor();
      await page.getByRole('button', { name: 'Requests', exact: true }).click();
      await page.getByRole('heading', { name: 'Requests over time' }).waitFor();
      expect(complaints).toEqual([]);

      // From here on, the browser logs a 404: the ID is first looked up among served requests.
      await page.goto(`/requests?request=${wrong.requestID}`);
      await drawer.getByText(messageOf(wrong)).waitFor();
    },
    TEST_MS,
  );

  test(
    'an operator finds a refused request by the ID a caller quotes, and sees its account',
    async () => {
      const { page, account, complaints } = await stage.enterSameTab({ viewport: { width: 1440, height: 900 } });
      page.setDefaultTimeout(SEEN_WITHIN_MS);
      await makeOperator(stage.database, account.email);
      const caller = await stage.enter();
      const { secret } = await new Keys(stage.database).create(caller.account.id, { name: 'their program' });
      const { requestID } = await refusalOf(secret, { top_p: 7 });
      await untilRecorded(requestID ?? '');

      await page.goto('/admin/requests');
      await page.getByLabel('Request ID (x-request-id)').fill(requestID ?? '');
      await rowsOf(page).getByText(caller.account.email).click();
      const drawer = page.getByRole('dialog', { name: 'Request' });
      await drawer.getByText('decimal_above_max_value, status 400').waitFor();
      await drawer.getByRole('link', { name: caller.account.email }).click();
      await page.waitForURL((url) => url.searchParams.get('account') === caller.account.id && url.searchParams.get('view') === 'refused');
      await rowsOf(page).getByText('their program').waitFor();
      await page.goto(`/admin/view/${caller.account.id}/requests?view=refused`);
      await rowsOf(page).getByText('their program').waitFor();
      expect(complaints).toEqual([]);

      await page.goto(`/admin/requests?request=${requestID}`);
      await drawer.getByRole('link', { name: caller.account.email }).waitFor();
    },
    TEST_MS,
  );

  test(
    'on a phone, each row says why, and an account without refusals says so',
    async () => {
      const { page, account, complaints } = await stage.enterSameTab({ viewport: { width: 360, height: 800 } });
      page.setDefaultTimeout(SEEN_WITHIN_MS);
      await page.goto('/requests?view=refused&live=yes');
      await page.getByText('No refused requests').waitFor();
      const { secret } = await new Keys(stage.database).create(account.id, { name: 'my program', models: ['sandbox/story'] });
      const refusal = await refusalOf(secret, {});
      await rowsOf(page).getByText(messageOf(refusal)).waitFor();
      expect(await rowsOf(page).innerText()).toContain('403');
      expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0);
      expect(complaints).toEqual([]);
    },
    TEST_MS,
  );
});
