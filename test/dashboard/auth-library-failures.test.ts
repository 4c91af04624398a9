import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { type Gate, startGate } from '../simulator/gate.ts';
import { type OpenAiSimulator, startOpenAiSimulator } from '../simulator/openai.ts';

const EMAIL = 'ada@example.com';

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

function post(path: string, body: object): Promise<Response> {
  return fetch(`${gate.origin}/api/auth/${path}`, {
    method: 'POST',
    headers: { origin: gate.origin, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

test('errors inside the authentication library are logged, not printed by the library', async () => {
  await post('sign-up/email', { name: 'Ada', email: EMAIL, password: 'a lorry full of turnips' });
  const database = new Database(join(gate.dataFolder, 'tollgate.db'));
  database.run('DROP TABLE verifications');
  database.close();
  const response = await post('request-password-reset', { email: EMAIL });
  expect(response.status).toBe(500);
  expect(await response.json()).toMatchObject({ error: { code: 'internal_error' } });
  expect(gate.logLines()).toContainEqual(expect.objectContaining({ msg: 'a dashboard request failed', cause: 'SQLiteError' }));
  expect(gate.output()).not.toContain('no such table');
}, 120_000);
