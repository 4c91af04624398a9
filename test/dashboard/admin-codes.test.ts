import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Plans } from '../../src/accounts/plans.ts';
import { creditBonus } from '../../src/accounts/redeem.ts';
import { planOf, usd } from '../conformance/money-in/stage.ts';
import { errorOf, jsonOf } from './answers.ts';
import { openDashboard, type TestBrowser, type TestDashboard } from './open-dashboard.ts';
import { enterAsOperator } from './operators.ts';
import { describeStores } from './stores.ts';

const DAY_MS = 86_400_000;
const TEST_MS = 120_000;

interface Code {
  readonly id: string;
  readonly campaign: string;
  readonly state: string;
  readonly used: number;
}

let orders = 0;
const orderId = (): string => String((orders += 1)).padStart(29, '0');

describeStores((makeStore) => {
  let dashboard: TestDashboard;
  let operator: TestBrowser;

  beforeAll(async () => {
    dashboard = await openDashboard(await makeStore());
    operator = await enterAsOperator(dashboard);
    await new Plans(dashboard.dependencies.database.kysely).save(planOf('pro', { name: 'Pro', included: usd('12') }), 'command');
  }, TEST_MS);
  afterAll(() => dashboard.end());

  const post = (path: string, body?: unknown): Promise<Response> => operator.send('POST', `/api/admin/codes${path}`, body);
  const most = async (order: object): Promise<unknown> => jsonOf(await post('/check', order));
  const make = async (order: object): Promise<{ id: string; code: string }[]> => {
    const answer = await post('', { orderId: orderId(), order });
    expect(answer.status).toBe(200);
    return (await jsonOf(answer))['codes'] as { id: string; code: string }[];
  };
  const read = async (query: string): Promise<{ codes: Code[]; next: string | null; campaigns: string[]; campaign: unknown }> =>
    (await jsonOf(await operator.get(`/api/admin/codes?${query}`))) as never;
  const audit = async (action: string): Promise<Record<string, unknown>[]> =>
    (await jsonOf(await operator.get(`/api/admin/audit?action=${action}`)))['entries'] as Record<string, unknown>[];
  const enter = async (email: string): Promise<TestBrowser> => {
    const person = dashboard.browser();
    await person.signUp(email);
    await person.get('/api/account');
    return person;
  };

  test('the check reports how much a batch can give away, for every kind of code', async () => {
    expect(await most({ creditUsd: '2.5', count: 1000, uses: 3 })).toEqual({ codes: 1000, mostUsd: '7500' });
    expect(await most({ planId: 'pro', periods: 2, code: 'summer' })).toEqual({ codes: 1, mostUsd: '24' });
    expect(await most({ bonusPercent: 20, bonusMaxUsd: '50', uses: 4 })).toEqual({ codes: 1, mostUsd: '200' });
    // More than a floating-point number can represent exactly.
    expect(await most({ creditUsd: '999999999.999999999', count: 10_000, uses: 9_007_199_254_740_991 })).toEqual({
      codes: 10_000,
      mostUsd: '90071992547409909909928007452.59009',
    });
    expect((await read('')).codes).toEqual([]);
  });

  test.each([
    [{}, 'Choose exactly one benefit', ''],
    [{ creditUsd: '1', planId: 'pro' }, 'exactly one benefit', ''],
    [{ creditUsd: '0' }, 'must be above zero', 'creditUsd'],
    [{ bonusPercent: 10 }, 'Set the maximum bonus', 'bonusMaxUsd'],
    [{ bonusPercent: 101, bonusMaxUsd: '1' }, 'is 1 to 100 percent', 'bonusPercent'],
    [{ planId: 'none-such' }, 'Plan not found.', 'planId'],
    [{ creditUsd: '1', count: 10_001 }, 'At most 10000 codes', 'count'],
    [{ creditUsd: '1', code: 'x!' }, '4 to 64 letters', 'code'],
    [{ creditUsd: '1', code: 'two\nlines' }, '4 to 64 letters', 'code'],
    [{ creditUsd: '1', code: 'welcome', count: 2 }, 'A code of your choice can be created only once', 'code'],
    [{ creditUsd: '1', prefix: 'a-b' }, 'at most 20 letters and digits', 'prefix'],
    [{ creditUsd: '1', creditDays: 9_007_199_254_740_991 }, 'must be at most 36500 days', 'creditDays'],
    [{ creditUsd: '1', validToMs: 1000 }, 'is in the past', 'validToMs'],
    [{ creditUsd: '1', validFromMs: Date.now() + 2 * DAY_MS, validToMs: Date.now() + DAY_MS }, 'is before it begins', 'validToMs'],
    [{ creditUsd: '1', useCount: 5 }, 'useCount', ''],
  ])('refuses %j and names the field', async (order, message, field) => {
    const answer = await post('/check', order);
    expect(answer.status).toBe(400);
    expect(await errorOf(answer)).toMatchObject({ message: expect.stringContaining(message) as string, field });
    expect((await post('', { orderId: orderId(), order })).status).toBe(400);
  });

  test('new codes are shown once, work, count their uses, and stay out of the audit log', async () => {
    const [fresh] = await make({ creditUsd: '5', code: 'Hello-World', uses: 2, campaign: 'hello', newAccountDays: 7, creditDays: 30 });
    expect(fresh).toMatchObject({ code: 'Hello-World' });
    const listed = await operator.get('/api/admin/codes?campaign=hello');
    const text = await listed.text();
    expect(text.toLowerCase()).not.toContain('world');
    expect(JSON.parse(text)).toMatchObject({
      codes: [
        {
          id: fresh?.id,
          campaign: 'hello',
          benefit: { kind: 'credit', usd: '5', creditDays: 30 },
          used: 0,
          uses: 2,
          newAccountDays: 7,
          state: 'valid',
        },
      ],
      campaigns: ['hello'],
      campaign: { codes: 1, running: 1, used: 0 },
    });
    const [entry] = await audit('promo.create');
    expect(entry).toMatchObject({ actor: 'operator@example.com', subject: fresh?.id });
    expect(entry?.['changes']).toEqual([
      { field: 'codes', before: null, after: 1 },
      { field: 'creditUsd', before: null, after: '5' },
      { field: 'creditDays', before: null, after: 30 },
      { field: 'campaign', before: null, after: 'hello' },
      { field: 'perAccount', before: null, after: 1 },
      { field: 'newAccountDays', before: null, after: 7 },
      { field: 'uses', before: null, after: 2 },
    ]);
    expect(JSON.stringify(entry).toLowerCase()).not.toContain('hell-');
    const ada = await enter('ada@example.com');
    expect((await ada.send('POST', '/api/billing/redeem', { code: 'helloworld' })).status).toBe(200);
    expect((await read('campaign=hello')).campaign).toEqual({ codes: 1, running: 1, used: 1 });
    expect(await errorOf(await post('', { orderId: orderId(), order: { creditUsd: '1', code: 'HELLO WORLD' } }))).toMatchObject({
      message: 'This code already exists.',
      field: 'code',
    });
  });

  test('an order that arrives twice is carried out once', async () => {
    const body = { orderId: orderId(), order: { creditUsd: '1', count: 3, campaign: 'twice' } };
    const answers = await Promise.all([post('', body), post('', body)]);
    expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(['200', '409']);
    expect((await read('campaign=twice')).codes).toHaveLength(3);
    expect((await audit('promo.create')).filter(({ subject }) => subject === 'twice')).toHaveLength(1);
  });

  test('codes are filtered by state, and one code is stopped without the others', async () => {
    const campaign = 'states';
    const [[stopped], [running]] = [await make({ creditUsd: '1', campaign }), await make({ creditUsd: '1', campaign })];
    await make({ creditUsd: '1', campaign, validFromMs: Date.now() + DAY_MS });
    const [over] = await make({ creditUsd: '1', campaign, validToMs: Date.now() + DAY_MS });
    const [usedUp] = await make({ creditUsd: '1', campaign });
    const { kysely } = dashboard.dependencies.database;
    await kysely
      .updateTable('promo_codes')
      .set({ valid_to: Date.now() - 1 })
      .where('id', '=', over?.id ?? '')
      .execute();
    await kysely
      .updateTable('promo_codes')
      .set({ used: 1 })
      .where('id', '=', usedUp?.id ?? '')
      .execute();
    expect(await jsonOf(await post(`/${stopped?.id}/stop`))).toEqual({ stopped: 1 });
    expect(await jsonOf(await post(`/${stopped?.id}/stop`))).toEqual({ stopped: 0 });
    expect((await audit('promo.stop')).map(({ subject }) => subject)).toEqual([stopped?.id]);
    for (const state of ['valid', 'not_yet', 'over', 'used_up', 'stopped']) {
      const { codes } = await read(`campaign=${campaign}&state=${state}`);
      expect(codes.map((code) => code.state)).toEqual([state]);
    }
    expect((await read(`campaign=${campaign}&state=valid`)).codes[0]?.id).toBe(running?.id ?? '');
    expect(await jsonOf(await post('/stop', { campaign }))).toEqual({ stopped: 4 });
    expect((await read(`campaign=${campaign}`)).campaign).toEqual({ codes: 5, running: 0, used: 1 });
    expect((await audit('promo.stop'))[0]).toMatchObject({ subject: campaign, changes: [{ field: 'codes', after: 4 }] });
  });

  test('stopping the first of many codes without a campaign leaves the others valid', async () => {
    const many = await make({ creditUsd: '1', count: 3 });
    expect(await jsonOf(await post(`/${many[0]?.id}/stop`))).toEqual({ stopped: 1 });
    const { codes, campaigns } = await read(`campaign=${many[0]?.id}`);
    expect(codes.map(({ state }) => state).toSorted()).toEqual(['stopped', 'valid', 'valid']);
    expect(campaigns).not.toContain(many[0]?.id ?? '');
  });

  test('the pages of a large batch have no gaps and no duplicates', async () => {
    const created = await make({ creditUsd: '0.01', count: 1200, campaign: 'large', prefix: 'fall' });
    expect(new Set(created.map(({ code }) => code)).size).toBe(1200);
    expect(created[7]?.code).toMatch(/^FALL(?:-[2-9A-Z]{5}){3}$/u);
    const seen: string[] = [];
    for (let next: string | null = ''; next !== null;) {
      const page = await read(`campaign=large${next === '' ? '' : `&before=${next}`}`);
      seen.push(...page.codes.map(({ id }) => id));
      next = page.next;
    }
    expect(seen.toSorted()).toEqual(created.map(({ id }) => id).toSorted());
    expect((await operator.get('/api/admin/codes?before=%27')).status).toBe(400);
  });

  test('redemptions show who, when and what was given, and a campaign can be exported as CSV', async () => {
    const [credit] = await make({ creditUsd: '3', code: 'gives-credit', uses: 100, perAccount: 9, campaign: 'mixed' });
    const [bonus] = await make({ bonusPercent: 10, bonusMaxUsd: '4', code: 'gives-bonus', uses: 9, perAccount: 9, campaign: 'mixed' });
    await make({ planId: 'pro', periods: 2, code: 'gives-plan', uses: 9, perAccount: 9, campaign: 'mixed' });
    const grace = await enter('grace@example.com');
    for (const code of ['gives-credit', 'gives-bonus', 'gives-plan'])
      expect((await grace.send('POST', '/api/billing/redeem', { code })).status).toBe(200);
    const of = async (id: string | undefined) => (await jsonOf(await operator.get(`/api/admin/codes/${id}`)))['redemptions'];
    expect(await of(credit?.id)).toMatchObject([{ email: 'grace@example.com', givenUsd: '3', isWaiting: false }]);
    expect(await of(bonus?.id)).toMatchObject([{ givenUsd: null, isWaiting: true }]);
    await topUp('grace@example.com', '100');
    expect(await of(bonus?.id)).toMatchObject([{ givenUsd: '4', isWaiting: false }]);
    const file = await operator.get('/api/admin/codes/redemptions/export?campaign=mixed&zone=UTC');
    expect(file.headers.get('content-disposition')).toContain('redemptions.csv');
    const lines = (await file.text()).trim().split('\r\n');
    expect(lines[0]).toBe('time,zone,account,email,code_id,code,gives,plan,periods,given_usd,state');
    expect(
      lines
        .slice(1)
        .map((line) =>
          line
            .split(',')
            .slice(3)
            .join(',')
            .replace(/promo_\w+/u, 'id'),
        )
        .toSorted(),
    ).toEqual([
      'grace@example.com,id,GIVE…,bonus,,,4,done',
      'grace@example.com,id,GIVE…,credit,,,3,done',
      'grace@example.com,id,GIVE…,plan,pro,2,,done',
    ]);
    expect((await operator.get('/api/admin/codes/promo_none')).status).toBe(404);
  });

  /** Records a top-up, with the bonus that it earns. */
  async function topUp(email: string, amount: string): Promise<void> {
    const { kysely } = dashboard.dependencies.database;
    const { id: accountId } = await kysely.selectFrom('accounts').select('id').where('email', '=', email).executeTakeFirstOrThrow();
    const row = { id: 'pay_1', account_id: accountId, provider: 'manual', purpose: 'top_up', status: 'paid', amount: usd(amount) } as const;
    await kysely.transaction().execute(async (transaction) => {
      const bonus = await creditBonus(transaction, { paymentId: row.id, accountId, amount: row.amount, nowMs: Date.now() });
      await transaction
        .insertInto('payments')
        .values({ ...row, bonus, charge_cents: 10_000, created_at: 1, asked_at: 1 })
        .execute();
    });
  }
});
