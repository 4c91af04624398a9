import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Gate, startGate } from '../simulator/gate.ts';
import { type OpenAiSimulator, startOpenAiSimulator } from '../simulator/openai.ts';
import { until } from '../until.ts';

let simulator: OpenAiSimulator;
let gate: Gate;

beforeAll(async () => {
  simulator = await startOpenAiSimulator();
  // Nothing listens on port 1.
  gate = await startGate({ simulator, env: { SMTP_URL: 'smtp://127.0.0.1:1' } });
}, 120_000);
afterAll(async () => {
  await gate.stop();
  await simulator.stop();
}, 120_000);

test('an unreachable mail server is logged with its error code', async () => {
  const { origin } = new URL(gate.baseUrl);
  const response = await fetch(`${origin}/api/auth/sign-up/email`, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Ada', email: 'ada@example.com', password: 'a lorry full of turnips' }),
  });
  expect(response.status).toBe(200);
  const line = await until(() => gate.logLines().find(({ msg }) => msg === 'an email could not be sent'));
  expect(line).toMatchObject({ level: 'error', code: 'ESOCKET' });
}, 120_000);
