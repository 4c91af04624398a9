import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Gate, startGate, type TestKey } from '../simulator/gate.ts';
import { type OpenAiSimulator, startOpenAiSimulator } from '../simulator/openai.ts';
import { until } from '../until.ts';

/** The promise: a command takes effect on a running server within one second. */
const EFFECT_WITHIN_MS = 1000;

let simulator: OpenAiSimulator;
let gate: Gate;

beforeAll(async () => {
  simulator = await startOpenAiSimulator();
  gate = await startGate({ simulator });
}, 120_000);
afterAll(async () => {
  await gate.stop();
  await simulator.stop();
}, 120_000);

/** Returns the status, and the error code if there is one. */
async function ask(secret: string): Promise<string> {
  const response = await fetch(`${gate.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 1 }),
  });
  const body = (await response.json()) as { error?: { code: string | null } };
  return body.error === undefined ? String(response.status) : `${response.status} ${body.error.code}`;
}

/** Repeats a request, as a busy client does, until the response is as expected or the promised time is over. */
async function expectSoon(secret: string, expected: string): Promise<void> {
  const deadline = performance.now() + EFFECT_WITHIN_MS;
  let outcome = await ask(secret);
  while (outcome !== expected && performance.now() < deadline) {
    await Bun.sleep(20);
    outcome = await ask(secret);
  }
  expect(outcome).toBe(expected);
}

async function createUsedKey(): Promise<TestKey> {
  const key = await gate.makeKey();
  await expectSoon(key.secret, '200');
  return key;
}

test('a new key works at once', async () => {
  const { email } = await createUsedKey();
  const { secret } = await gate.run('key', 'create', '--account', email, '--name', 'second');
  await expectSoon(String(secret), '200');
});

test('a rotated key works with its new secret only', async () => {
  const { id, secret } = await createUsedKey();
  const fresh = await gate.run('key', 'rotate', id);
  await expectSoon(secret, '401 invalid_api_key');
  await expectSoon(String(fresh['secret']), '200');
});

test('after a rotation with an overlap both secrets work, and then only the new one', async () => {
  const { id, secret } = await createUsedKey();
  const rotatedAtMs = performance.now();
  const fresh = await gate.run('key', 'rotate', id, '--overlap', '2s');
  await expectSoon(String(fresh['secret']), '200');
  await Bun.sleep(600);
  expect(await ask(secret)).toBe('200');
  await until(async () => (await ask(secret)) === '401 invalid_api_key');
  expect(performance.now() - rotatedAtMs).toBeGreaterThan(2000);
  expect(await ask(String(fresh['secret']))).toBe('200');
});

test('a deleted key is refused', async () => {
  const { id, secret } = await createUsedKey();
  await gate.run('key', 'delete', id);
  await expectSoon(secret, '401 invalid_api_key');
});

test('a key expires at its time, without any command', async () => {
  const expires = new Date(Date.now() + 6000);
  const { email } = await gate.makeKey();
  const made = await gate.run('key', 'create', '--account', email, '--name', 'brief', '--expires', expires.toISOString());
  const secret = String(made['secret']);
  await expectSoon(secret, '200');
  await until(async () => (await ask(secret)) === '401 invalid_api_key');
  expect(Date.now()).toBeGreaterThanOrEqual(expires.getTime());
});

test('a disabled provider gets no requests until it is enabled again', async () => {
  const { secret } = await createUsedKey();
  expect(await gate.run('provider', 'disable', 'sandbox')).toEqual({ id: 'sandbox', disabled: true });
  await expectSoon(secret, '404 model_not_found');
  const { providers } = await gate.run('provider', 'list');
  expect(providers).toContainEqual({ id: 'sandbox', disabled_by: 'command line', disabled_at: expect.any(String) as string });
  await expect(gate.run('provider', 'disable', 'nobody')).rejects.toThrow('There is no provider nobody');
  expect(await gate.run('provider', 'enable', 'sandbox')).toEqual({ id: 'sandbox', disabled: false });
  await expectSoon(secret, '200');
});

test('a suspended account is refused until it is resumed', async () => {
  const { email, secret } = await createUsedKey();
  await gate.run('account', 'suspend', '--email', email);
  await expectSoon(secret, '403 account_suspended');
  await gate.run('account', 'resume', '--email', email);
  await expectSoon(secret, '200');
});

test('credit takes effect, whether added or taken away', async () => {
  const { email, secret } = await gate.makeKey({ creditUsd: '0' });
  await expectSoon(secret, '403 insufficient_quota');
  await gate.run('account', 'credit', '--email', email, '--usd', '0.01', '--reason', 'test');
  await expectSoon(secret, '200');
  await gate.run('account', 'credit', '--email', email, '--usd', '-0.01', '--reason', 'test');
  await expectSoon(secret, '403 insufficient_quota');
});

test('a disabled key is refused until it is enabled again', async () => {
  const { id, secret } = await createUsedKey();
  await gate.run('key', 'disable', id);
  await expectSoon(secret, '401 key_disabled');
  await gate.run('key', 'enable', id);
  await expectSoon(secret, '200');
});

test('addresses and denied models of a key can be changed and removed', async () => {
  const { id, secret } = await createUsedKey();
  await gate.run('key', 'update', id, '--addresses', '10.0.0.0/8,2001:db8::/32');
  await expectSoon(secret, '403 address_not_allowed');
  await gate.run('key', 'update', id, '--addresses', 'none', '--deny-models', 'sandbox/echo');
  await expectSoon(secret, '403 model_not_allowed');
  await gate.run('key', 'update', id, '--deny-models', 'none', '--tag', 'team=blue', 'nightly');
  await expectSoon(secret, '200');
});

test('the budget of a key takes effect, and can be removed', async () => {
  const { id, secret } = await createUsedKey();
  await gate.run('key', 'budget', id, '--usd', '0', '--period', 'day');
  await expectSoon(secret, '403 insufficient_quota');
  expect(await gate.run('key', 'budget', id, '--usd', 'none', '--period', 'day')).toMatchObject({ period: 'day', usd: null });
  await expectSoon(secret, '200');
});

test('end-overlap expires the old secret early', async () => {
  const { id, secret } = await createUsedKey();
  const fresh = await gate.run('key', 'rotate', id, '--overlap', '1h');
  await expectSoon(String(fresh['secret']), '200');
  expect(await ask(secret)).toBe('200');
  await gate.run('key', 'end-overlap', id);
  await expectSoon(secret, '401 invalid_api_key');
});
