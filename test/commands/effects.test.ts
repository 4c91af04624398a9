import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Gate, startGate, type TestKey } from '../simulator/gate.ts';
import { type OpenAiSimulator, startOpenAiSimulator } from '../simulator/openai.ts';

/** What is promised: a running server sees the effect of a command within one second. */
const FELT_WITHIN_MS = 1000;

let simulator: OpenAiSimulator;
let gate: Gate;

beforeAll(async () => {
  simulator = await startOpenAiSimulator();
  gate = await startGate({ simulator });
}, 60_000);
afterAll(async () => {
  await gate.stop();
  await simulator.stop();
}, 60_000);

/** The status, and the code of the error where there is one. */
async function ask(secret: string): Promise<string> {
  const response = await fetch(`${gate.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 1 }),
  });
  const body = (await response.json()) as { error?: { code: string | null } };
  return body.error === undefined ? String(response.status) : `${response.status} ${body.error.code}`;
}

/** Asks again and again, as a busy client does, until the answer is as expected or the promised time is over. */
async function felt(secret: string, expected: string): Promise<void> {
  const deadline = performance.now() + FELT_WITHIN_MS;
  let answer = await ask(secret);
  while (answer !== expected && performance.now() < deadline) {
    await Bun.sleep(20);
    answer = await ask(secret);
  }
  expect(answer).toBe(expected);
}

async function makeUsedKey(): Promise<TestKey> {
  const key = await gate.makeKey();
  await felt(key.secret, '200');
  return key;
}

test('a key that was just made works', async () => {
  const { email } = await makeUsedKey();
  const { secret } = await gate.run('key', 'create', '--account', email, '--name', 'second');
  await felt(String(secret), '200');
});

test('a rotated key works with its new secret and no longer with the old one', async () => {
  const { id, secret } = await makeUsedKey();
  const fresh = await gate.run('key', 'rotate', id);
  await felt(secret, '401 invalid_api_key');
  await felt(String(fresh['secret']), '200');
});

test('a rotation with an overlap lets both secrets in, and then only the new one', async () => {
  const { id, secret } = await makeUsedKey();
  const fresh = await gate.run('key', 'rotate', id, '--overlap', '2s');
  const overlapEndsAt = performance.now() + 2000;
  await felt(String(fresh['secret']), '200');
  await Bun.sleep(600);
  expect(await ask(secret)).toBe('200');
  await Bun.sleep(overlapEndsAt - performance.now());
  expect(await ask(secret)).toBe('401 invalid_api_key');
  expect(await ask(String(fresh['secret']))).toBe('200');
});

test('a deleted key is refused', async () => {
  const { id, secret } = await makeUsedKey();
  await gate.run('key', 'delete', id);
  await felt(secret, '401 invalid_api_key');
});

test('a key ends when its time has come, without any command', async () => {
  const expires = new Date(Date.now() + 6000);
  const { email } = await gate.makeKey();
  const made = await gate.run('key', 'create', '--account', email, '--name', 'brief', '--expires', expires.toISOString());
  const secret = String(made['secret']);
  await felt(secret, '200');
  await Bun.sleep(expires.getTime() - Date.now() + 10);
  expect(await ask(secret)).toBe('401 invalid_api_key');
});

test('a provider that is disabled is asked no more, and again when it is enabled', async () => {
  const { secret } = await makeUsedKey();
  expect(await gate.run('provider', 'disable', 'sandbox')).toEqual({ id: 'sandbox', disabled: true });
  await felt(secret, '404 model_not_found');
  const { providers } = await gate.run('provider', 'list');
  expect(providers).toContainEqual({ id: 'sandbox', disabled_by: 'command line', disabled_at: expect.any(String) as string });
  await expect(gate.run('provider', 'disable', 'nobody')).rejects.toThrow('There is no provider nobody');
  expect(await gate.run('provider', 'enable', 'sandbox')).toEqual({ id: 'sandbox', disabled: false });
  await felt(secret, '200');
});

test('an account that is suspended is refused, and let in again when it is resumed', async () => {
  const { email, secret } = await makeUsedKey();
  await gate.run('account', 'suspend', '--email', email);
  await felt(secret, '403 account_suspended');
  await gate.run('account', 'resume', '--email', email);
  await felt(secret, '200');
});

test('credit is felt, whether it is added or taken', async () => {
  const { email, secret } = await gate.makeKey({ creditUsd: '0' });
  await felt(secret, '403 insufficient_quota');
  await gate.run('account', 'credit', '--email', email, '--usd', '0.01', '--reason', 'test');
  await felt(secret, '200');
  await gate.run('account', 'credit', '--email', email, '--usd', '-0.01', '--reason', 'test');
  await felt(secret, '403 insufficient_quota');
});

test('a disabled key is refused, and an enabled one let in again', async () => {
  const { id, secret } = await makeUsedKey();
  await gate.run('key', 'disable', id);
  await felt(secret, '401 key_disabled');
  await gate.run('key', 'enable', id);
  await felt(secret, '200');
});

test('addresses and denied models of a key can be changed, and lifted', async () => {
  const { id, secret } = await makeUsedKey();
  await gate.run('key', 'update', id, '--addresses', '10.0.0.0/8,2001:db8::/32');
  await felt(secret, '403 address_not_allowed');
  await gate.run('key', 'update', id, '--addresses', 'none', '--deny-models', 'sandbox/echo');
  await felt(secret, '403 model_not_allowed');
  await gate.run('key', 'update', id, '--deny-models', 'none', '--tag', 'team=blue', 'nightly');
  await felt(secret, '200');
});

test('the budget of a key is felt, and can be lifted', async () => {
  const { id, secret } = await makeUsedKey();
  await gate.run('key', 'budget', id, '--usd', '0', '--period', 'day');
  await felt(secret, '403 insufficient_quota');
  expect(await gate.run('key', 'budget', id, '--usd', 'none', '--period', 'day')).toMatchObject({ period: 'day', usd: null });
  await felt(secret, '200');
});

test('the old secret of a rotation is ended early', async () => {
  const { id, secret } = await makeUsedKey();
  const fresh = await gate.run('key', 'rotate', id, '--overlap', '1h');
  await felt(String(fresh['secret']), '200');
  expect(await ask(secret)).toBe('200');
  await gate.run('key', 'end-overlap', id);
  await felt(secret, '401 invalid_api_key');
});
