import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Caller, CHAT, startCaller } from '../faults/caller.ts';

const TOKEN = 'a-token-for-the-scraper';
let caller: Caller;

beforeAll(async () => {
  caller = await startCaller({ env: { TOLLGATE_METRICS_TOKEN: TOKEN } });
}, 20_000);
afterAll(() => caller.stop(), 20_000);

function look(token: string): Promise<Response> {
  return fetch(`${caller.gate.origin}/metrics`, { headers: { authorization: `Bearer ${token}` } });
}

/** Every line of the text that is no comment, by its name and labels. */
async function readMetrics(): Promise<ReadonlyMap<string, number>> {
  const lines = (await (await look(TOKEN)).text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]));
}

test('metrics are for whoever has the token', async () => {
  const refused = await look('a-guess');
  expect(refused.status).toBe(401);
  expect(await refused.text()).toContain('TOLLGATE_METRICS_TOKEN');
  const told = await look(TOKEN);
  expect(told.status).toBe(200);
  expect(told.headers.get('content-type')).toStartWith('text/plain; version=0.0.4');
});

test('metrics count from the start of the process, looked at or not', async () => {
  const post = (body: object): Promise<Response> =>
    fetch(`${caller.gate.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${caller.key.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  expect((await post(CHAT)).status).toBe(200);
  const first = await readMetrics();
  expect(first.get('tollgate_requests_total{outcome="completed"}')).toBe(1);
  const charged = Number(await caller.chargedNanos());
  expect(charged).toBeGreaterThan(0);
  expect(first.get('tollgate_charged_nanodollars_total')).toBe(charged);
  expect(first.get('tollgate_ledger_waiting_operations')).toBe(0);

  expect((await post(CHAT)).status).toBe(200);
  const second = await readMetrics();
  expect(second.get('tollgate_requests_total{outcome="completed"}')).toBe(2);
  expect(second.get('tollgate_charged_nanodollars_total')).toBe(charged + Number(await caller.chargedNanos()));
  expect(second.get('tollgate_hold_overruns_total')).toBe(0);
  expect([...second.keys()].map((name) => name.replace(/\{.*/u, ''))).toEqual(
    expect.arrayContaining(['tollgate_estimated_total', 'tollgate_resolved_before_total', 'tollgate_recovered_holds_total']),
  );
});
