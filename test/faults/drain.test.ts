import { afterAll, beforeAll, expect, test } from 'bun:test';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { costNanos } from '../simulator/invoice.ts';
import type { Usage } from '../simulator/wire.ts';
import { until } from '../until.ts';
import { type Caller, CHAT, startCaller, STREAM } from './caller.ts';

let caller: Caller;

beforeAll(async () => {
  caller = await startCaller({});
}, 120_000);
afterAll(() => caller.stop(), 120_000);

function post(body: object): Promise<Response> {
  return fetch(`${caller.gate.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${caller.key.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

test('SIGTERM lets a running stream finish, refuses new requests and exits with 0', async () => {
  caller.simulator.always({ type: 'pace', gapMs: 200 });
  const running = await post({ ...CHAT, ...STREAM });
  const text = running.text();
  const exit = caller.gate.terminate();
  await until(async () => (await fetch(`${caller.gate.origin}/readyz`)).status !== 200);

  const late = await post(CHAT);
  expect(late.status).toBe(500);
  expect(late.headers.get('retry-after')).toMatch(/^[1-9]\d*$/u);
  expect(((await late.json()) as { error: { type: string } }).error.type).toBe('server_error');

  expect(await text).toEndWith('data: [DONE]\n\n');
  expect(await exit).toBe(0);
  expect(caller.simulator.requests).toHaveLength(1);
  expect(await caller.chargedNanos()).toBe(costNanos(caller.simulator.requests[0]?.usage as Usage));
});

test('a server whose dashboard is in use closes its database before it exits', async () => {
  const { gate, simulator } = await startCaller({});
  expect((await fetch(`${gate.origin}/api/status`)).status).toBe(200);
  expect(await gate.terminate()).toBe(0);
  // A closed database leaves no log file behind.
  expect(readdirSync(gate.dataFolder).toSorted()).toEqual(['server.lock', 'tollgate.db']);
  await gate.stop();
  await simulator.stop();
});

/** Takes far longer to count than a shutdown waits: no word appears twice, so nothing can be cached. */
const SLOW_TO_COUNT = Array.from({ length: 1_000_000 }, (_, index) => Math.imul(index, 2_654_435_761).toString(36)).join('');

test.each([
  ['is charged', 'Hi'],
  ['is charged an estimate if the tokens take long to count', SLOW_TO_COUNT],
])('a caller who leaves just before shutdown %s', async (_, content) => {
  const leaver = await startCaller({});
  const { gate, simulator } = leaver;
  const key = await gate.makeKey({ creditUsd: '50', tpm: 1_000_000_000 });
  simulator.always({ type: 'pace', gapMs: 20 });
  const leaving = new AbortController();
  const running = await fetch(`${gate.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...CHAT, ...STREAM, messages: [{ role: 'user', content }] }),
    signal: leaving.signal,
  });
  expect(running.status).toBe(200);
  await running.body?.getReader().read();
  leaving.abort();
  await until(() => simulator.openReplies === 0);
  expect(await gate.terminate()).toBe(0);
  // Nobody else could settle it: the server has ended.
  expect(await gate.settledBalance(key)).toBeLessThan(key.creditNanos);
  await gate.stop();
  await simulator.stop();
});

test('a whole answer that is being sent at shutdown arrives in full', async () => {
  const { gate, key, simulator } = await startCaller({});
  const bytes = 30_000_000;
  simulator.always({ type: 'huge', bytes });
  const body = JSON.stringify(CHAT);
  const socket = connect({ port: Number(new URL(gate.origin).port), host: '127.0.0.1' });
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: gate\r\ncontent-type: application/json\r\nauthorization: Bearer ${key.secret}`;
  socket.write(`${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  let received = 0;
  socket.on('data', (piece) => (received += piece.length));
  await once(socket, 'data');
  socket.pause();
  const closed = once(socket, 'close');
  const exit = gate.terminate();
  await Bun.sleep(500);
  socket.resume();
  expect(await exit).toBe(0);
  await closed;
  expect(received).toBeGreaterThan(bytes);
  await gate.stop();
  await simulator.stop();
});
