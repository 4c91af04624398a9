import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Plans } from '../../src/accounts/plans.ts';
import { Subscriptions } from '../../src/accounts/subscriptions.ts';
import { Accounts } from '../../src/accounts/accounts.ts';
import { usd } from '../conformance/money-in/stage.ts';
import { errorOf, jsonOf } from './answers.ts';
import { openDashboard, type TestBrowser, type TestDashboard } from './open-dashboard.ts';
import { enterAsOperator } from './operators.ts';
import { describeStores } from './stores.ts';

const TEST_MS = 120_000;
const TERMS = { isOffered: true, useFirst: 'plan', overflow: 'balance' } as const;
const OF_FILE = { id: 'file', name: 'Of the file', price: usd('10'), included: usd('12'), interval: 'month', ...TERMS } as const;
const OWN = { id: 'own', name: 'Own', price_usd: '24', included_usd: '30', interval: 'year' };

describeStores((makeStore) => {
  let dashboard: TestDashboard;
  let operator: TestBrowser;

  beforeAll(async () => {
    dashboard = await openDashboard(await makeStore(), { ask: async () => [{ id: 'sandbox/echo' }] });
    operator = await enterAsOperator(dashboard);
    await new Plans(dashboard.dependencies.database.kysely).saveSettings([OF_FILE]);
  }, TEST_MS);
  afterAll(() => dashboard.end());

  const send = (method: 'POST' | 'PUT', path: string, body?: unknown): Promise<Response> =>
    operator.send(method, `/api/admin/plans${path}`, body);
  const list = async (): Promise<Record<string, unknown>[]> =>
    (await jsonOf(await operator.get('/api/admin/plans')))['plans'] as Record<string, unknown>[];
  const planOf = async (id: string) => (await list()).find((plan) => plan['id'] === id);
  const audit = async (subject: string): Promise<Record<string, unknown>[]> =>
    (await jsonOf(await operator.get(`/api/admin/audit?subject=${subject}`)))['entries'] as Record<string, unknown>[];
  const subscribe = async (email: string, planId: string, paysBy: 'balance' | 'nobody' = 'balance'): Promise<string> => {
    const { kysely } = dashboard.dependencies.database;
    const account = await new Accounts(kysely).create(email, false);
    if (account === undefined) throw new Error(`${email} is taken`);
    await new Accounts(kysely).credit(account, usd('100'), { reason: 'test', actor: 'test' });
    const nowMs = Date.now();
    const result = await new Subscriptions(kysely).order({ type: 'subscribe', planId }, { accountId: account.id, nowMs, paysBy });
    expect(result.type).toBe('done');
    return account.id;
  };

  test('creating, changing and ending a plan each leave an audit entry', async () => {
    expect((await send('POST', '', OWN)).status).toBe(200);
    expect(await planOf('own')).toMatchObject({
      priceUsd: '24',
      interval: 'year',
      origin: 'command',
      isOffered: true,
      isEnded: false,
      models: null,
    });
    expect(await errorOf(await send('POST', '', OWN))).toMatchObject({
      code: 'conflict',
      message: 'A plan with this id already exists.',
      field: 'id',
    });
    const changed = { ...OWN, price_usd: '36', models: ['sandbox/*'], requests_per_minute: 5, offered: false };
    expect((await send('PUT', '/own', changed)).status).toBe(200);
    expect((await send('PUT', '/own', changed)).status).toBe(200);
    expect(await planOf('own')).toMatchObject({ priceUsd: '36', models: ['sandbox/*'], requestsPerMinute: 5, isOffered: false });
    expect((await send('POST', '/own/end')).status).toBe(200);
    expect((await send('POST', '/own/end')).status).toBe(404);
    expect((await send('PUT', '/own', changed)).status).toBe(404);
    expect(await planOf('own')).toMatchObject({ isEnded: true });
    expect((await send('POST', '', OWN)).status).toBe(200);
    const entries = await audit('own');
    expect(entries.map(({ actor, action }) => `${String(actor)}: ${String(action)}`)).toEqual([
      'operator@example.com: plan.update',
      'operator@example.com: plan.end',
      'operator@example.com: plan.update',
      'operator@example.com: plan.create',
    ]);
    expect(entries[0]?.['changes']).toContainEqual({ field: 'ended', before: true, after: null });
    expect(entries[2]?.['changes']).toEqual([
      { field: 'models', before: null, after: ['sandbox/*'] },
      { field: 'requestsPerMinute', before: null, after: 5 },
      { field: 'priceUsd', before: '24', after: '36' },
      { field: 'offered', before: true, after: false },
    ]);
  });

  test('a plan from tollgate.yaml cannot be changed here', async () => {
    const message = 'This plan is defined in tollgate.yaml. Change it there.';
    for (const answer of [
      await send('POST', '', { ...OWN, id: 'file' }),
      await send('PUT', '/file', { ...OWN, id: 'file' }),
      await send('POST', '/file/end'),
    ])
      expect(await errorOf(answer)).toMatchObject({ code: 'conflict', message });
    expect(await planOf('file')).toMatchObject({ priceUsd: '10', origin: 'settings', isEnded: false });
    expect((await audit('file')).map(({ actor, action }) => [actor, action])).toEqual([['settings file', 'plan.create']]);
  });

  test.each([
    [{ ...OWN, id: 'No' }, 'lower-case letters', 'id'],
    [{ ...OWN, id: 'none' }, 'must not be "none"', 'id'],
    [{ ...OWN, id: 'x', price_usd: '-1' }, 'zero or more', 'price_usd'],
    [{ ...OWN, id: 'x', models: [] }, 'must name at least one model', 'models'],
    [{ ...OWN, id: 'x', models: ['sandbox/echo', 'sandbox/eco'] }, 'Unknown model: sandbox/eco.', 'models'],
    [{ ...OWN, id: 'x', rpm: 5 }, 'rpm', ''],
  ])('refuses %j and names the field', async (plan, message, field) => {
    const answer = await send('POST', '', plan);
    expect(answer.status).toBe(400);
    expect(await errorOf(answer)).toMatchObject({ message: expect.stringContaining(message) as string, field });
  });

  test('a plan keeps a model that has gone, but gets no other unknown one', async () => {
    const gone = {
      id: 'gone',
      name: 'Gone',
      price: usd('1'),
      included: usd('1'),
      interval: 'month',
      models: ['gone/one'],
      ...TERMS,
    } as const;
    await new Plans(dashboard.dependencies.database.kysely).save(gone, 'command', { actor: 'test', expects: 'new' });
    const change = (models: string[]) => send('PUT', '/gone', { id: 'gone', name: 'Gone', price_usd: '1', included_usd: '1', models });
    expect((await change(['gone/one', 'sandbox/echo'])).status).toBe(200);
    expect(await errorOf(await change(['gone/one', 'gone/two']))).toMatchObject({ message: 'Unknown model: gone/two.', field: 'models' });
    expect((await send('POST', '/gone/end')).status).toBe(200);
  });

  test('subscribers are counted by state, with the monthly revenue of the active ones', async () => {
    const { kysely } = dashboard.dependencies.database;
    await subscribe('a@example.com', 'file');
    await subscribe('b@example.com', 'file');
    const canceling = await subscribe('c@example.com', 'file');
    const late = await subscribe('d@example.com', 'file');
    await subscribe('e@example.com', 'file', 'nobody');
    const ended = await subscribe('f@example.com', 'file');
    await subscribe('g@example.com', 'own');
    const subscriptions = new Subscriptions(kysely);
    await subscriptions.cancel(canceling, Date.now());
    await subscriptions.end(ended, 'test');
    await kysely.updateTable('subscriptions').set({ status: 'past_due' }).where('account_id', '=', late).execute();
    expect(await planOf('file')).toMatchObject({ subscribers: { active: 3, cancelling: 1, past_due: 1 }, monthlyUsd: '20' });
    expect(await planOf('own')).toMatchObject({ subscribers: { active: 1, cancelling: 0, past_due: 0 }, monthlyUsd: '2' });
    // A new price applies to new periods.
    await send('PUT', '/own', { ...OWN, price_usd: '120' });
    expect(await planOf('own')).toMatchObject({ priceUsd: '120', monthlyUsd: '2' });
    const { subscribers, next } = await jsonOf(await operator.get('/api/admin/plans/file/subscribers'));
    expect(next).toBeNull();
    expect((subscribers as { email: string; state: string }[]).map(({ email, state }) => `${email} ${state}`).toSorted()).toEqual([
      'a@example.com active',
      'b@example.com active',
      'c@example.com cancelling',
      'd@example.com past_due',
      'e@example.com active',
    ]);
    expect(await jsonOf(await operator.get('/api/admin/plans/file/subscribers?state=cancelling'))).toMatchObject({
      subscribers: [{ accountId: canceling, paysBy: 'balance', isRenewing: false, nextPlanId: null }],
    });
  });

  test('the pages of subscribers have no gaps and no duplicates', async () => {
    const { kysely } = dashboard.dependencies.database;
    const many = 120;
    const ids = Array.from({ length: many }, (_, index) => `acct_${String(index).padStart(3, '0')}`);
    await kysely
      .insertInto('accounts')
      .values(ids.map((id) => ({ id, email: `${id}@example.com`, status: 'active' as const, is_admin: 0, created_at: 1 })))
      .execute();
    const common = { plan_id: 'own', status: 'active', pays_by: 'card', anchor: 1, turn: 0, ends_with_period: 0, reason: '' } as const;
    await kysely
      .insertInto('subscriptions')
      .values(
        ids.map((id, n) => ({
          ...common,
          id: `sub_${id}`,
          account_id: id,
          period_start: 1,
          period_end: 2,
          created_at: Math.floor(n / 40),
        })),
      )
      .execute();
    const seen: string[] = [];
    for (let next: string | null = ''; next !== null;) {
      const page = (await jsonOf(await operator.get(`/api/admin/plans/own/subscribers${next === '' ? '' : `?before=${next}`}`))) as {
        subscribers: { accountId: string }[];
        next: string | null;
      };
      seen.push(...page.subscribers.map(({ accountId }) => accountId));
      next = page.next;
    }
    // The newest is from the previous test.
    expect(seen.slice(1)).toEqual(ids.toReversed());
    expect((await operator.get('/api/admin/plans/own/subscribers?before=%27')).status).toBe(400);
  });
});
