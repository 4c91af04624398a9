import { afterAll, beforeAll, expect, test } from 'bun:test';
import { describeModel, type Gate, startGate, type TestKey } from '../simulator/gate.ts';
import { type OpenAiSimulator, startOpenAiSimulator } from '../simulator/openai.ts';
import { errorBody } from '../simulator/wire.ts';
import { until } from '../until.ts';

/** A short wait for the first byte of a provider that hangs. */
const FIRST_BYTE_MS = 1000;
const TEST_MS = 120_000;
const PRICE = { input: 2.5, output: 10 };

let east: OpenAiSimulator;
let west: OpenAiSimulator;
let gate: Gate;
let key: TestKey;

beforeAll(async () => {
  east = await startOpenAiSimulator();
  west = await startOpenAiSimulator();
  gate = await startGate({
    simulator: east,
    timeouts: { first_byte_ms: FIRST_BYTE_MS, answer_ms: FIRST_BYTE_MS },
    providers: {
      east: { dialect: 'openai', base_url: east.baseUrl, api_key: east.apiKey },
      west: { dialect: 'openai', base_url: west.baseUrl, api_key: west.apiKey },
      deaf: { dialect: 'anthropic', base_url: west.baseUrl, api_key: west.apiKey },
    },
    models: [
      {
        ...describeModel('both/large', 'east', PRICE),
        routes: [
          { provider: 'east', model: 'large' },
          { provider: 'west', model: 'large' },
        ],
      },
      {
        ...describeModel('both/audio', 'east', PRICE),
        input: ['text', 'audio'],
        routes: [
          { provider: 'east', model: 'audio' },
          { provider: 'deaf', model: 'audio' },
        ],
      },
      { ...describeModel('east/alone', 'east', PRICE), routes: [{ provider: 'east', model: 'alone' }] },
    ],
  });
  key = await gate.makeKey({ rpm: 100_000, tpm: 100_000_000 });
}, TEST_MS);
afterAll(async () => {
  await gate.stop();
  await east.stop();
  await west.stop();
});

const SPOKEN = [{ type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }];

async function ask(model = 'both/large', content: unknown = 'hello'): Promise<number> {
  const answer = await fetch(`${gate.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content }] }),
  });
  await answer.text();
  return answer.status;
}

const leftOut = async (): Promise<string[]> => {
  const text = await (await fetch(`${gate.origin}/metrics`)).text();
  return text.split('\n').filter((line) => line.startsWith('tollgate_routes_left_out{'));
};

test(
  'a provider that hangs is tried five times, then left out, and comes back by itself',
  async () => {
    east.always({ type: 'hang', moment: { at: 'before_headers' } });
    for (let time = 0; time < 8; time += 1) expect(await ask()).toBe(200);
    expect([east.requests.length, west.requests.length]).toEqual([5, 8]);
    expect(await leftOut()).toEqual(['tollgate_routes_left_out{provider="east",model="large"} 1']);
    expect(gate.logLines().filter(({ msg }) => msg === 'a route keeps failing and is paused')).toMatchObject([
      { level: 'warn', provider: 'east', model: 'large', seconds: 10 },
    ]);

    east.reset();
    west.reset();
    await until(async () => (await ask()) === 200 && east.requests.length > 0);
    const before = west.requests.length;
    for (let time = 0; time < 5; time += 1) expect(await ask()).toBe(200);
    expect([east.requests.length, west.requests.length]).toEqual([6, before]);
    expect(await leftOut()).toEqual([]);
  },
  TEST_MS,
);

test(
  'a model with one route is tried every time, whatever happened before',
  async () => {
    east.reset();
    east.always({ type: 'status', status: 503, body: errorBody({ message: 'overloaded', type: 'server_error' }) });
    for (let time = 0; time < 10; time += 1) expect(await ask('east/alone')).toBe(500);
    expect(east.requests).toHaveLength(10);
    east.reset();
    expect(await ask('east/alone')).toBe(200);
  },
  TEST_MS,
);

test(
  'a provider that rate-limits rests for as long as it says',
  async () => {
    east.reset();
    west.reset();
    const body = errorBody({ message: 'slow down', type: 'rate_limit_error' });
    east.next({ type: 'status', status: 429, body, headers: { 'retry-after': '3' } });
    for (let time = 0; time < 4; time += 1) expect(await ask()).toBe(200);
    expect([east.requests.length, west.requests.length]).toEqual([1, 4]);
    await until(async () => (await ask()) === 200 && east.requests.length > 1);
  },
  TEST_MS,
);

test(
  'a route that is left out is still tried when the other cannot handle the request',
  async () => {
    east.reset();
    east.always({ type: 'status', status: 503, body: errorBody({ message: 'overloaded', type: 'server_error' }) });
    for (let time = 0; time < 5; time += 1) expect(await ask('both/audio', SPOKEN)).toBe(500);
    expect(await leftOut()).toEqual(['tollgate_routes_left_out{provider="east",model="audio"} 1']);
    east.reset();
    expect(await ask('both/audio', SPOKEN)).toBe(200);
    expect(east.requests).toHaveLength(1);
  },
  TEST_MS,
);
