import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Plans } from '../../src/accounts/plans.ts';
import { planOf, usd } from '../conformance/money-in/stage.ts';
import { startStripeSimulator, type StripeSimulator } from '../simulator/stripe.ts';
import { jsonOf } from './answers.ts';
import { giveBelongings, type Belongings } from './belongings.ts';
import { answerForGate } from './gate-answers.ts';
import { NO_PAYMENTS, openDashboard, type TestBrowser, type TestDashboard } from './open-dashboard.ts';
import { enterAsOperator } from './operators.ts';
import { OWNED, routesOf, type Route } from './route-table.ts';
import { describeStores } from './stores.ts';

const DAY_MS = 86_400_000;
const TEST_MS = 120_000;
const VIEW = '/api/admin/view/:viewed';

describeStores((makeStore) => {
  let stripe: StripeSimulator;
  let dashboard: TestDashboard;
  let operator: TestBrowser;
  let ada: TestBrowser;
  let accountId: string;
  let things: Belongings;

  beforeAll(async () => {
    stripe = await startStripeSimulator();
    const payments = { ...NO_PAYMENTS, stripe: { secretKey: 'sk_test_simulated', webhookSecret: stripe.secret, apiUrl: stripe.url } };
    dashboard = await openDashboard(await makeStore(), { settings: { payments }, ask: answerForGate });
    await new Plans(dashboard.dependencies.database.kysely).save(planOf('basic', { price: usd('10') }), 'command');
    operator = await enterAsOperator(dashboard);
    ada = await dashboard.signedUp('ada@example.com');
    ({ id: accountId } = (await jsonOf(await ada.get('/api/account'))) as { id: string });
    things = await giveBelongings(dashboard, ada, stripe);
  }, TEST_MS);
  afterAll(async () => {
    await dashboard.end();
    await stripe.stop();
  });

  /** Every route of the view with existing ids: the operator's path and the owner's path. */
  const routes = (): (Route & { readonly own: string })[] =>
    routesOf(dashboard)
      .filter(({ path }) => path.startsWith(VIEW))
      .map(({ method, path }) => {
        const own = `/api${path.slice(VIEW.length)}`;
        const owned = OWNED[`${method} ${own}`];
        const filled = owned === undefined ? own : own.replace(':id', things[owned.of]);
        return { method, own: filled, path: `/api/admin/view/${accountId}${filled.slice('/api'.length)}` };
      });
  const visits = () =>
    dashboard.dependencies.database.kysely.selectFrom('audit').select(['actor', 'subject']).where('action', '=', 'account.view').execute();

  test(
    'an operator reads the same as the owner on every route',
    async () => {
      const reads = routes().filter(({ method }) => method === 'GET');
      expect(reads.length).toBeGreaterThan(25);
      for (const { path, own } of reads) {
        const asked = askedFor();
        const [seen, owners] = [await operator.get(`${path}?${asked}`), await ada.get(`${own}?${asked}`)];
        expect([path, seen.status]).toEqual([path, 200]);
        expect([path, timeless(await seen.text())]).toEqual([path, timeless(await owners.text())]);
      }
    },
    TEST_MS,
  );

  test(
    'every change is refused',
    async () => {
      const changes = routes().filter(({ method }) => method !== 'GET');
      expect(changes.length).toBeGreaterThan(20);
      for (const { method, path } of changes) {
        const answer = await operator.send(method as 'POST', path, {});
        expect([method, path, answer.status]).toEqual([method, path, 403]);
        expect((await jsonOf(answer))['error']).toMatchObject({ message: expect.stringContaining('another person') as string });
      }
    },
    TEST_MS,
  );

  test('viewing an account is recorded once in the audit log', async () => {
    expect(await visits()).toEqual([{ actor: 'operator@example.com', subject: accountId }]);
    await Promise.all(['overview/errors', 'keys', 'plans'].map((path) => operator.get(`/api/admin/view/${accountId}/${path}`)));
    expect(await visits()).toHaveLength(1);
    const other = await enterAsOperator(dashboard, 'second@example.com');
    await Promise.all(['account', 'keys', 'plans'].map((path) => other.get(`/api/admin/view/${accountId}/${path}`)));
    expect((await visits()).map(({ actor }) => actor).toSorted()).toEqual(['operator@example.com', 'second@example.com']);
  });

  test('prompts, answers and payment pages are visible to the owner only', async () => {
    const { kysely } = dashboard.dependencies.database;
    await kysely
      .insertInto('request_contents')
      .values({
        account_id: accountId,
        request_id: things.request,
        request: '{"a":"canary"}',
        answer: 'canary',
        is_cut: 0,
        delete_at: Date.now() + DAY_MS,
      })
      .execute();
    await kysely
      .updateTable('payments')
      .set({ status: 'open', address: 'https://pay.example.com/canary', asked_at: Date.now() })
      .where('id', '=', things.payment)
      .execute();
    for (const path of [`requests/${things.request}`, 'billing/payments', `billing/payments/${things.payment}`]) {
      expect([path, await (await ada.get(`/api/${path}`)).text()]).toEqual([path, expect.stringContaining('canary') as string]);
      const seen = await operator.get(`/api/admin/view/${accountId}/${path}`);
      expect([path, seen.status, await seen.text()]).toEqual([path, 200, expect.not.stringContaining('canary') as string]);
    }
  });

  test('an unknown account is not found, and the view contains nothing of the operator', async () => {
    expect((await operator.get('/api/admin/view/acct_nobody/keys')).status).toBe(404);
    for (const path of ['settings', 'start', 'playground', 'admin/accounts'])
      expect([path, (await operator.get(`/api/admin/view/${accountId}/${path}`)).status]).toEqual([path, 404]);
    expect(await jsonOf(await operator.get(`/api/admin/view/${accountId}/account`))).toMatchObject({
      id: accountId,
      email: 'ada@example.com',
      isOperator: false,
    });
  });
});

/** Query parameters for every route. */
function askedFor(): string {
  const [from, to] = [String(Date.now() - 2 * DAY_MS), String(Date.now() + DAY_MS)];
  return new URLSearchParams({ from, to, planId: 'basic', page: 'usage' }).toString();
}

/** Two people do not read in the same millisecond, so times may differ. */
function timeless(text: string): string {
  return text.replaceAll(/\d{13}/gu, 'then');
}
