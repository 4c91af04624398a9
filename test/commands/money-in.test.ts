import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql, type Kysely } from 'kysely';
import { ConfigError, loadConfig } from '../../src/config.ts';
import { connect } from '../../src/database/connect.ts';
import type { Tables } from '../../src/database/tables.ts';
import { asNanos } from '../../src/ledger/money.ts';
import { openMoneyIn, type MoneyIn } from '../../src/payments/open.ts';
import type { PaymentRow, ProviderName } from '../../src/payments/payments.ts';
import { failureOf } from '../simulator/failure.ts';
import { startGate, type Gate } from '../simulator/gate.ts';
import { startOpenAiSimulator, type OpenAiSimulator } from '../simulator/openai.ts';
import { startStripeSimulator, type StripeSimulator } from '../simulator/stripe.ts';
import type { JsonObject } from '../simulator/wire.ts';
import { runCommand, variablesOf } from './run-command.ts';

const EFFECT_WITHIN_MS = 10_000;
const PLANS = [
  { id: 'narrow', name: 'Narrow', price_usd: 0, included_usd: 1, models: ['sandbox/echo'], requests_per_minute: 1000 },
  { id: 'gift', name: 'Gift', price_usd: 9, included_usd: 2, offered: false },
];

let simulator: OpenAiSimulator;
let stripe: StripeSimulator;
let gate: Gate;
let money: MoneyIn;
let database: Kysely<Tables>;
let closeDatabase: () => Promise<void>;

beforeAll(async () => {
  [simulator, stripe] = await Promise.all([startOpenAiSimulator(), startStripeSimulator()]);
  const variables = { STRIPE_SECRET_KEY: 'sk_test_simulated', STRIPE_WEBHOOK_SECRET: stripe.secret };
  const settings = { payments: { stripe_api_url: stripe.url, bank_transfer: 'IBAN XX00 0000' }, plans: PLANS };
  gate = await startGate({ simulator, env: variables, settings });
  const { kysely } = await connect({ databaseUrl: undefined, databasePath: join(gate.dataFolder, 'tollgate.db') });
  database = kysely;
  closeDatabase = () => kysely.destroy();
  const config = loadConfig({ TOLLGATE_CONFIG: join(gate.dataFolder, '..', 'tollgate.yaml'), MOCK_KEY: 'x', ...variables });
  money = await openMoneyIn({ database: kysely, payments: config.payments, url: gate.origin });
}, 120_000);
afterAll(async () => {
  await closeDatabase();
  await gate.stop();
  await Promise.all([simulator.stop(), stripe.stop()]);
}, 120_000);

const statusOf = async (secret: string, model: string): Promise<number> => {
  const response = await fetch(`${gate.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 1 }),
  });
  await response.body?.cancel();
  return response.status;
};

const expectSoon = async (secret: string, model: string, expected: number): Promise<void> => {
  const deadline = performance.now() + EFFECT_WITHIN_MS;
  while ((await statusOf(secret, model)) !== expected && performance.now() < deadline) await Bun.sleep(50);
  expect(await statusOf(secret, model)).toBe(expected);
};

const balanceOf = async (email: string): Promise<string> => String((await gate.run('account', 'show', '--email', email))['balance']);

/** Starts a top-up of $20, as the dashboard does. */
async function startTopUp(email: string, provider: ProviderName): Promise<PaymentRow> {
  const { id } = await gate.run('account', 'show', '--email', email);
  const payer = { accountId: String(id), email };
  const result = await money.desk.start({ payer, amount: asNanos(20_000_000_000n), provider, nowMs: Date.now() });
  if (result.type === 'refused') throw new Error(result.why);
  return result.payment;
}

const messageOf = async (...args: readonly string[]): Promise<string> =>
  ((await failureOf(gate.run('promo', 'create', ...args))) as Error).message;

const refusalOf = async (...terms: readonly string[]): Promise<string> =>
  ((await failureOf(gate.run('plan', 'create', '--name', 'X', '--included-usd', '1', ...terms))) as Error).message;

test('account create makes no account if its credit cannot be written', async () => {
  const create = ['account', 'create', '--email', 'later@example.com', '--credit', '5'] as const;
  await sql`CREATE TRIGGER no_credit BEFORE INSERT ON grants BEGIN SELECT RAISE(ABORT, 'no credit'); END`.execute(database);
  expect(String(await failureOf(gate.run(...create)))).toContain('no credit');
  await sql`DROP TRIGGER no_credit`.execute(database);
  expect(await gate.run(...create)).toMatchObject({ email: 'later@example.com', balance: '5' });
});

describe('the webhook of a running server', () => {
  test('credits only events that Stripe signed, once', async () => {
    const { email } = await gate.makeKey({ creditUsd: '0' });
    const payment = await startTopUp(email, 'stripe');
    stripe.books.pay(stripe.books.sessionOf(payment.id));
    const [event] = stripe.books.events.slice(-1);
    const forged = await stripe.sign(event ?? {}, 'whsec_forged_by_somebody_else');
    const forge = (): Promise<Response> => fetch(`${gate.origin}/webhooks/stripe`, { method: 'POST', ...forged });
    expect([(await forge()).status, (await forge()).status]).toEqual([400, 400]);
    expect(await balanceOf(email)).toBe('0');
    // Payments are also credited by polling, so nobody would notice a wrong secret before a refund.
    const messages = gate.logLines().map(({ msg }) => msg);
    const report = 'a Stripe event has no valid signature: check STRIPE_WEBHOOK_SECRET and the clock';
    expect(messages.filter((message) => message === report)).toHaveLength(1);
    // The address as operators copy it, also with a slash at its end.
    expect(await stripe.deliver(event ?? {}, `${gate.origin}/webhooks/stripe/`)).toBe(200);
    expect(await stripe.deliver(event ?? {}, `${gate.origin}/webhooks/stripe`)).toBe(200);
    expect(await balanceOf(email)).toBe('20');
  });

  test('does not exist without a secret', async () => {
    const other = await startGate({ simulator, env: { STRIPE_SECRET_KEY: 'sk_test_simulated' } });
    const signed = await stripe.sign({ id: 'evt_1', object: 'event', type: 'x', data: { object: {} } }, ' ');
    expect((await fetch(`${other.origin}/webhooks/stripe`, { method: 'POST', ...signed })).status).toBe(404);
    expect((await fetch(`${other.origin}/webhooks/stripe/`, { method: 'POST', ...signed })).status).toBe(404);
    await other.stop();
  }, 120_000);

  test('is refused at the start with an empty secret', () => {
    expect(() => loadConfig({ STRIPE_WEBHOOK_SECRET: '' })).toThrow(ConfigError);
    expect(() => loadConfig({ STRIPE_WEBHOOK_SECRET: '' })).toThrow(
      'environment variable STRIPE_WEBHOOK_SECRET: must be the signing secret',
    );
    expect(() => loadConfig({ STRIPE_WEBHOOK_SECRET: '   ' })).toThrow(ConfigError);
  });

  test('is not reached with a publishable key of Stripe, which is refused at the start', () => {
    expect(() => loadConfig({ STRIPE_SECRET_KEY: 'pk_live_of_the_shop' })).toThrow('STRIPE_SECRET_KEY: must be a secret key of Stripe');
    expect(loadConfig({ STRIPE_SECRET_KEY: 'rk_live_of_the_shop' }).payments.stripe?.secretKey).toBe('rk_live_of_the_shop');
  });

  test('is refused at the start with a part of the secret, which is not called empty', () => {
    const mistake = 'environment variable STRIPE_WEBHOOK_SECRET: must have at least 16 characters. Copy the whole signing secret';
    expect(() => loadConfig({ STRIPE_WEBHOOK_SECRET: 'whsec_cut' })).toThrow(mistake);
  });
});

describe('payments', () => {
  test('are compared with Stripe: a missed payment is found and then credited', async () => {
    const { email } = await gate.makeKey({ creditUsd: '0' });
    const payment = await startTopUp(email, 'stripe');
    stripe.books.pay(stripe.books.sessionOf(payment.id));
    // With exit code 1 the output is not returned, so the test checks the effect of `payments ask` instead.
    const failure = (await failureOf(gate.run('payments', 'reconcile'))) as Error;
    expect(failure.message).toContain('payments reconcile --json ended with 1');
    expect(await gate.run('payments', 'ask', payment.id)).toMatchObject({ status: 'paid', usd: '20' });
    expect(await gate.run('payments', 'reconcile')).toMatchObject({ ok: true, differences: [] });
    expect(await balanceOf(email)).toBe('20');
  });

  test('by bank transfer are confirmed or refused by the operator', async () => {
    const { email } = await gate.makeKey({ creditUsd: '0' });
    const [first, second] = [await startTopUp(email, 'manual'), await startTopUp(email, 'manual')];
    expect((await failureOf(gate.run('payments', 'confirm', first.provider_ref ?? '', '--usd', '19'))) as Error).toMatchObject({
      message: expect.stringContaining('1900 cents were paid instead of 2000'),
    });
    expect((await failureOf(gate.run('payments', 'confirm', first.provider_ref ?? '', '--usd', '19.995'))) as Error).toMatchObject({
      message: expect.stringContaining('"19.995" is not an amount in whole cents'),
    });
    expect(await gate.run('payments', 'confirm', first.provider_ref ?? '', '--usd', '20')).toMatchObject({ result: 'credited' });
    const again = await runCommand(['payments', 'confirm', first.provider_ref ?? '', '--usd', '20'], variablesOf(gate));
    expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/^was credited before: .+ paid\n$/u) });
    expect(await gate.run('payments', 'refuse', second.provider_ref ?? '', '--reason', 'never came')).toMatchObject({ status: 'failed' });
    expect(await balanceOf(email)).toBe('20');
    const { payments } = (await gate.run('payments', 'list', '--account', email)) as { payments: JsonObject[] };
    expect(new Set(payments.map(({ status, reason }) => `${String(status)} ${String(reason)}`))).toEqual(
      new Set(['failed never came', 'paid null']),
    );
  });

  test('of the wrong amount are listed as problems', async () => {
    const { email } = await gate.makeKey({ creditUsd: '0' });
    const payment = await startTopUp(email, 'stripe');
    stripe.books.pay(stripe.books.sessionOf(payment.id), { cents: 1 });
    for (const event of stripe.books.events.slice(-1)) await stripe.deliver(event, `${gate.origin}/webhooks/stripe`);
    const { problems } = (await gate.run('payments', 'list', '--problems')) as { problems: JsonObject[] };
    expect(problems).toContainEqual(
      expect.objectContaining({
        kind: 'refused_event',
        payment: payment.id,
        explanation: expect.stringContaining('1 cents were paid instead of 2000'),
      }),
    );
  });
});

describe('promo codes', () => {
  test('are created, shown once, listed without the code, redeemed and stopped', async () => {
    const { email } = await gate.makeKey({ creditUsd: '0' });
    const made = (await gate.run('promo', 'create', '--credit', '5', '--code', 'Hello-World', '--uses', '3', '--campaign', 'hello')) as {
      codes: JsonObject[];
    };
    expect(made.codes).toEqual([{ id: expect.stringMatching(/^promo_/u), code: 'Hello-World' }]);
    expect(await gate.run('promo', 'redeem', '--account', email, '--code', 'helloworld')).toMatchObject({ redeemed: true, usd: '5' });
    expect(await balanceOf(email)).toBe('5');
    const listed = await gate.run('promo', 'list', '--campaign', 'hello');
    expect(listed).toMatchObject({ codes: [{ campaign: 'hello', used: 1, uses: 3, stopped: false }] });
    expect(JSON.stringify(listed).toLowerCase()).not.toContain('world');
    expect(await gate.run('promo', 'stop', 'hello')).toMatchObject({ stopped: 1 });
    const failure = (await failureOf(gate.run('promo', 'redeem', '--account', email, '--code', 'helloworld'))) as Error;
    expect(failure.message).toContain('The code is refused: it was stopped.');
    const id = made.codes[0]?.['id'];
    const entries = await database.selectFrom('audit').selectAll().where('action', 'like', 'promo.%').orderBy('id').execute();
    expect(entries.map(({ actor, action, subject }) => `${actor}: ${action} ${subject}`)).toEqual([
      `command line: promo.create ${String(id)}`,
      'command line: promo.stop hello',
    ]);
    expect(JSON.stringify(entries.map(({ detail }) => detail)).toLowerCase()).not.toContain('world');
  });

  test('are stopped one by one if they were created together without a campaign', async () => {
    const { codes } = (await gate.run('promo', 'create', '--credit', '5', '--count', '3')) as { codes: { id: string }[] };
    expect(await gate.run('promo', 'stop', codes[0]?.id ?? '')).toMatchObject({ stopped: 1 });
    const { codes: listed } = (await gate.run('promo', 'list', '--campaign', codes[0]?.id ?? '')) as { codes: JsonObject[] };
    expect(listed.filter(({ stopped }) => stopped === true).map(({ id }) => id)).toEqual([codes[0]?.id]);
  });

  test('can be created in bulk, in a file that only its owner can read', async () => {
    const file = join(gate.dataFolder, 'codes.csv');
    expect(
      await gate.run('promo', 'create', '--bonus-percent', '10', '--bonus-max', '5', '--count', '50', '--prefix', 'fall', '--csv', file),
    ).toEqual({ count: 50, file });
    const lines = (await readFile(file, 'utf8')).trim().split('\n');
    expect(lines).toHaveLength(51);
    expect(lines[1]).toMatch(/^promo_\w+,FALL-[2-9A-Z]{5}-[2-9A-Z]{5}-[2-9A-Z]{5}$/u);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test('are not created if their file cannot be written, since they are shown only once', async () => {
    const [file, elsewhere] = [join(gate.dataFolder, 'taken.csv'), join(gate.dataFolder, 'no-folder', 'codes.csv')];
    await writeFile(file, 'mine');
    const create = (...rest: readonly string[]) => gate.run('promo', 'create', '--credit', '5', '--campaign', 'filed', ...rest);
    expect(((await failureOf(create('--csv', file))) as Error).message).toContain('already exists');
    expect(((await failureOf(create('--csv', elsewhere))) as Error).message).toContain('ENOENT');
    expect(await readFile(file, 'utf8')).toBe('mine');
    expect(await gate.run('promo', 'list', '--campaign', 'filed')).toEqual({ codes: [] });
    // If creating the codes fails, their file is removed.
    await create('--code', 'filed-once');
    const empty = join(gate.dataFolder, 'empty.csv');
    expect(((await failureOf(create('--code', 'filed-once', '--csv', empty))) as Error).message).toContain('This code already exists');
    expect(existsSync(empty)).toBe(false);
  });

  test('need exactly one valid benefit', async () => {
    expect(await messageOf()).toContain('Give exactly one of --credit, --plan and --bonus-percent');
    expect(await messageOf('--plan', 'none-such')).toContain('There is no plan none-such');
    expect(await messageOf('--bonus-percent', '10')).toContain('--bonus-max');
    expect(await messageOf('--credit', '5', '--code', 'x!')).toContain('4 to 64 letters');
    expect(await messageOf('--credit', '0')).toContain('--credit: must be above zero');
    expect(await messageOf('--credit', '5', '--to', '2020-01-01')).toContain('--to: is in the past');
    expect(await messageOf('--credit', '5', '--count', '10001')).toContain('At most 10000 codes');
    expect(await messageOf('--credit', '5', '--credit-days', '99999')).toContain('--credit-days: must be at most 36500 days');
  });

  test('refuse options that would have no effect', async () => {
    expect(await messageOf('--credit', '5', '--periods', '2')).toContain('--periods applies only to a plan');
    expect(await messageOf('--credit', '5', '--bonus-max', '2')).toContain('--bonus-max applies only to a bonus');
    expect(await messageOf('--plan', 'gift', '--credit-days', '2')).toContain("--credit-days does not apply to a plan's credit");
    expect(await messageOf('--credit', '5', '--code', 'ABCDEF', '--prefix', 'X')).toContain('--prefix applies only to random codes');
  });
});

describe('plans', () => {
  test('come from the settings, and more can be created', async () => {
    await gate.run('plan', 'create', '--id', 'more', '--name', 'More', '--price-usd', '5', '--included-usd', '6', '--rpm', '7');
    const { plans } = (await gate.run('plan', 'list')) as { plans: JsonObject[] };
    expect(plans.map(({ id }) => id)).toEqual(['narrow', 'more', 'gift']);
    expect((await failureOf(gate.run('plan', 'end', 'gift'))) as Error).toMatchObject({
      message: expect.stringContaining('remove it there'),
    });
    expect(await gate.run('plan', 'end', 'more')).toEqual({ id: 'more', ended: true });
    const entries = await database.selectFrom('audit').selectAll().where('subject', 'in', ['more', 'gift']).orderBy('id').execute();
    expect(entries.map(({ actor, action, subject }) => `${actor}: ${action} ${subject}`)).toEqual([
      'settings file: plan.create gift',
      'command line: plan.create more',
      'command line: plan.end more',
    ]);
  });

  test('are validated like in the form', async () => {
    expect(await refusalOf('--id', 'none', '--price-usd', '1')).toContain('--id: must not be "none"');
    expect(await refusalOf('--id', 'x', '--price-usd', '-1')).toContain('--price-usd: must be USD: zero or more');
    expect(await refusalOf('--id', 'x', '--price-usd', '1', '--interval', 'week')).toContain('--interval: ');
    expect(await refusalOf('--id', 'x', '--price-usd', '1', '--models', 'sandbox/eco')).toContain('Unknown model sandbox/eco.');
    expect(await refusalOf('--id', 'gift', '--price-usd', '1')).toContain('is in the settings file; change it there');
  });

  test('apply to keys soon after they are assigned or taken away', async () => {
    const { email, secret } = await gate.makeKey({ creditUsd: '1' });
    await expectSoon(secret, 'sandbox/story', 200);
    expect(await gate.run('plan', 'assign', '--account', email, '--plan', 'narrow')).toMatchObject({
      plan: 'narrow',
      paid_by: 'nobody',
      included_left: '1',
    });
    await expectSoon(secret, 'sandbox/story', 403);
    expect(await statusOf(secret, 'sandbox/echo')).toBe(200);
    expect(await gate.run('plan', 'assign', '--account', email, '--plan', 'none')).toMatchObject({ plan: null });
    await expectSoon(secret, 'sandbox/story', 200);
  });

  test('with overflow stop refuse a request that the balance could pay, and say what to do', async () => {
    const terms = ['--id', 'tiny', '--name', 'Tiny', '--price-usd', '0', '--included-usd', '0.0001'];
    expect(await gate.run('plan', 'create', ...terms, '--overflow', 'stop')).toMatchObject({ overflow: 'stop', use_first: 'plan' });
    const { email, secret } = await gate.makeKey({ creditUsd: '5' });
    const { period_end: end } = await gate.run('plan', 'assign', '--account', email, '--plan', 'tiny');
    const ask = async (limit: number): Promise<{ status: number; error?: JsonObject }> => {
      const response = await fetch(`${gate.baseUrl}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }], max_tokens: limit }),
      });
      return { status: response.status, ...((await response.json()) as { error?: JsonObject }) };
    };
    const { status, error } = await ask(1000);
    expect({ status, code: error?.['code'] }).toEqual({ status: 403, code: 'insufficient_quota' });
    expect(error?.['message']).toStartWith(
      "The plan's credit is used up, and the plan does not continue with the balance: this request needs at least $0.00",
    );
    expect(error?.['message']).toContain(
      `$0.0001 is available, apart from what running requests hold. Choose a larger plan, or wait until ${String(end).slice(0, 10)}, when its period ends, or lower the output limit`,
    );
    expect((await ask(1)).status).toBe(200);
    await gate.run('plan', 'assign', '--account', email, '--plan', 'none');
    expect((await ask(1000)).status).toBe(200);
  });

  test('leave the ledger correct', async () => {
    expect(await gate.run('ledger', 'verify')).toMatchObject({ ok: true });
  });
});
