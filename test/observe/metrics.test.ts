import { afterAll, beforeAll, expect, test } from 'bun:test';
import { isForThisMachine } from '../../src/app.ts';
import { openMetrics } from '../../src/observe/metrics.ts';
import { type Caller, startCaller } from '../faults/caller.ts';

const TOKEN = 'a-token-for-the-scraper';
let caller: Caller;

beforeAll(async () => {
  caller = await startCaller({ env: { TOLLGATE_METRICS_TOKEN: TOKEN } });
}, 120_000);
afterAll(() => caller.stop(), 20_000);

function look(token: string): Promise<Response> {
  return fetch(`${caller.gate.origin}/metrics`, { headers: { authorization: `Bearer ${token}` } });
}

/** Parses every line that is not a comment, by its name and labels. */
function parse(text: string): Readonly<Record<string, number>> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]));
}

test('metrics require the token', async () => {
  const refused = await look('a-guess');
  expect(refused.status).toBe(401);
  expect(await refused.text()).toContain('TOLLGATE_METRICS_TOKEN');
  const allowed = await look(TOKEN);
  expect(allowed.status).toBe(200);
  expect(allowed.headers.get('content-type')).toStartWith('text/plain; version=0.0.4');
});

test.each<[string, Record<string, string>, boolean]>([
  ['http://127.0.0.1:8787', {}, true],
  ['http://localhost', {}, true],
  ['http://[::1]:8787', {}, true],
  ['http://127.0.0.1:8787', { 'x-forwarded-for': '192.0.2.1' }, false],
  ['http://gate.example.com', {}, false],
  ['http://127.0.0.1.example.com:8787', {}, false],
  ['http://localhost.example.com:8787', {}, false],
])('without a token, access to %s with the headers %j is allowed: %j', (origin, headers, isAllowed) => {
  expect(isForThisMachine(new Request(`${origin}/metrics`, { headers }))).toBe(isAllowed);
});

test('every outcome of a request is reported before the first request', async () => {
  const metrics = parse(await openMetrics(() => ({ ledger: { waitingCount: 0, setAsideCount: 2 }, pausedRoutes: [] })).render());
  for (const outcome of ['completed', 'client_gone', 'failed']) expect(metrics[`tollgate_requests_total{outcome="${outcome}"}`]).toBe(0);
});

test('metrics count every request once, however often they are read', async () => {
  const first = await caller.ask({ type: 'answer' });
  await look(TOKEN);
  const second = await caller.ask({ type: 'answer' });
  const guessed = await caller.ask({ type: 'usage', value: 'missing' });
  await caller.ask({ type: 'status', status: 500, body: {} });
  expect(parse(await (await look(TOKEN)).text())).toMatchObject({
    'tollgate_requests_total{outcome="completed"}': 3,
    'tollgate_requests_total{outcome="failed"}': 1,
    tollgate_charged_nanodollars_total: Number(first.chargedNanos + second.chargedNanos + guessed.chargedNanos),
    tollgate_estimated_total: 1,
    tollgate_hold_overruns_total: 0,
    tollgate_resolved_before_total: 0,
    tollgate_ledger_waiting_operations: 0,
  });
  expect(first.chargedNanos).toBeGreaterThan(0n);
});

test('metrics show the last verification of the ledger', async () => {
  const metrics = openMetrics(() => ({
    ledger: { waitingCount: 7, setAsideCount: 2 },
    pausedRoutes: [{ provider: 'east', model: 'large' }],
  }));
  metrics.recovered(2);
  metrics.recovered(3);
  const checks = [
    { name: 'R1 sums', ok: false, difference: '1', places: ['one'] },
    { name: 'R2 holds', ok: true, difference: '0', places: [] },
    { name: 'R10 charges', ok: false, difference: '1', places: ['three'] },
    { name: 'R10 rows', ok: true, difference: '0', places: [] },
  ];
  metrics.verified([{ name: 'R1 sums', ok: false, difference: '2', places: ['one', 'two'] }], 1000);
  metrics.verified(checks, 2000);
  expect(metrics.ledgerState().verified).toEqual({ atMs: 2000, checks });
  expect(parse(await metrics.render())).toMatchObject({
    tollgate_recovered_holds_total: 5,
    'tollgate_ledger_differences{rule="R1"}': 1,
    'tollgate_ledger_differences{rule="R2"}': 0,
    'tollgate_ledger_differences{rule="R10"}': 1,
    tollgate_ledger_verified_timestamp_seconds: 2,
    tollgate_ledger_waiting_operations: 7,
    tollgate_ledger_set_aside_total: 2,
  });
});
