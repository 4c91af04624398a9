import { afterAll, expect, spyOn, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Dashboard, type DashboardHost } from '../../src/dashboard/dashboard.ts';
import type { DashboardSettings, FromDashboard, ToDashboard } from '../../src/dashboard/messages.ts';
import { connect } from '../../src/database/connect.ts';
import { migrate } from '../../src/database/migrate.ts';
import { HeldBytes } from '../../src/http/held-bytes.ts';
import { startServer } from '../../src/http/server.ts';
import { cpuMs } from '../cpu.ts';
import { exchangeBytes } from '../faults/raw-client.ts';
import { until } from '../until.ts';
import { ORIGIN, SETTINGS as USUAL } from './open-dashboard.ts';

const folder = mkdtempSync(join(tmpdir(), 'tollgate-thread-'));
afterAll(() => rmSync(folder, { recursive: true }));

const SETTINGS: DashboardSettings = { ...USUAL, databaseUrl: undefined, databasePath: join(folder, 'tollgate.db') };
/** Nothing listens there. */
const AWAY = 'postgres://tollgate@127.0.0.1:1/tollgate';

test('the thread recovers if the database was unavailable at its start', async () => {
  const { kysely, dialect } = await connect(SETTINGS);
  await migrate(kysely, dialect);
  await kysely.destroy();
  let databaseUrl: string | undefined = AWAY;
  const failures: string[] = [];
  const dashboard = new Dashboard(() => ({ ...SETTINGS, databaseUrl }), {
    answer: async () => [],
    failed: (event) => failures.push(event),
    notice: () => undefined,
  });
  const ask = async (): Promise<number> => (await dashboard.fetch(new Request(`${ORIGIN}/api/session`), '192.0.2.1')).status;
  const beganAtMs = performance.now();
  expect(await ask()).toBe(500);
  expect(performance.now() - beganAtMs).toBeLessThan(60_000);
  expect(failures).toContain("the dashboard's thread ended");
  databaseUrl = undefined;
  expect(await ask()).toBeLessThan(500);
  await dashboard.close();
});

test('a request without a host or with a deeply nested body does not block others', async () => {
  const { kysely, dialect } = await connect(SETTINGS);
  await migrate(kysely, dialect);
  await kysely.destroy();
  const failures: string[] = [];
  const dashboard = new Dashboard(() => SETTINGS, {
    answer: async () => [],
    failed: (event) => failures.push(event),
    notice: () => undefined,
  });
  const server = startServer({
    held: new HeldBytes(),
    host: '127.0.0.1',
    port: 0,
    routes: { '/api/*': (request, connection) => dashboard.fetch(request.standard(), connection.address()) },
    onError: () => ({ status: 500, headers: {}, body: '' }),
    onMalformed: () => ({ status: 400, headers: {}, body: '' }),
  });
  const statusFor = async (host: string): Promise<number | string> => {
    const bytes = Buffer.from(`GET /api/setup HTTP/1.1\r\nHost: ${host}\r\n\r\n`, 'latin1');
    const outcome = await exchangeBytes({ port: server.port, bytes, isCut: false, isHead: false, timeoutMs: 10_000 });
    return outcome.type === 'answer' ? outcome.status : outcome.type;
  };
  for (const host of ['gate.test', '']) expect([host, await statusFor(host)]).toEqual([host, 200]);
  for (const host of ['a b', 'a/b', 'x@y', 'a b/c?d#e@f', 'gate.test:99999', '[::1'])
    expect([host, await statusFor(host)]).toEqual([host, 400]);
  const deep = (levels: number): Promise<Response> => {
    const body = `{"response":{"id":"x","a":${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}}}`;
    const headers = { origin: ORIGIN, 'content-type': 'application/json' };
    return dashboard.fetch(new Request(`${ORIGIN}/api/auth/passkey/verify-authentication`, { method: 'POST', headers, body }), '192.0.2.1');
  };
  expect(await (await deep(60)).text()).toContain('challenge_not_found');
  const beganAtMs = cpuMs();
  expect(await (await deep(40_000)).text()).toContain('nested more than 64 levels deep');
  expect(cpuMs() - beganAtMs).toBeLessThan(1000);
  expect(failures).toEqual([]);
  await server.stop(true);
  await dashboard.close();
});

const NOBODY = { answer: async () => [], failed: () => undefined, notice: () => undefined };

/** Returns what the main thread sends in response to a message from the dashboard's thread. */
function answersTo(data: FromDashboard, host: DashboardHost): ToDashboard[] {
  const sent: ToDashboard[] = [];
  let thread: { onmessage?: (event: { readonly data: FromDashboard }) => void } = {};
  const worker = spyOn(globalThis, 'Worker').mockImplementation((() => {
    thread = { postMessage: (message: ToDashboard) => sent.push(message), unref: () => undefined } as typeof thread;
    return thread;
  }) as never);
  new Dashboard(() => SETTINGS, host).wake();
  worker.mockRestore();
  sent.length = 0;
  thread.onmessage?.({ data });
  return sent;
}

test('a download that starts after its request timed out is cancelled', () => {
  const sent = answersTo({ type: 'reply', id: 7, reply: { status: 200, headers: [], body: undefined } }, NOBODY);
  expect(sent).toEqual([{ type: 'cancel', id: 7 }]);
});

test('a question that the gate fails to answer is a failure, not an empty answer', async () => {
  const failures: string[] = [];
  const host: DashboardHost = {
    answer: async () => Promise.reject(new Error('the way out is closed')),
    failed: (event) => failures.push(event),
    notice: () => undefined,
  };
  const posting = { url: 'https://hook.test/', headers: {}, body: '{}' };
  const sent = answersTo({ type: 'question', id: 3, question: { type: 'webhook', posting } }, host);
  await until(() => sent.length > 0);
  expect(sent).toEqual([{ type: 'unanswered', id: 3 }]);
  expect(failures).toEqual(['a question from the dashboard could not be answered']);

  const dashboard = new Dashboard(() => SETTINGS, host);
  const answer = await dashboard.fetch(new Request(`${ORIGIN}/api/models`), '192.0.2.1');
  expect(answer.status).toBe(500);
  expect(failures.slice(1)).toEqual(['a question from the dashboard could not be answered', 'a dashboard request failed']);
  await dashboard.close();
});
