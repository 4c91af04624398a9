import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Timeouts } from '../../src/config.ts';
import type { GatewayError } from '../../src/errors.ts';
import { Deadlines } from '../../src/gateway/deadlines.ts';
import { describeModel, startGate } from '../simulator/gate.ts';
import { startOpenAiSimulator } from '../simulator/openai.ts';

const TIMEOUTS: Timeouts = {
  connectMs: 5000,
  firstByteMs: 60_000,
  answerMs: 600_000,
  idleMs: 120_000,
  totalMs: 1_800_000,
  keepAliveMs: 15_000,
};
const FIRST_BYTE = { what: 'did not begin to answer within', ms: 60_000 };
/** The clock moves on between creating a deadline and checking it. */
const TICK_MS = 1000;

function start(timeouts: Partial<Timeouts> = {}): { deadlines: Deadlines; startedAtMs: number } {
  const startedAtMs = performance.now();
  const deadlines = new Deadlines({ ...TIMEOUTS, ...timeouts }, FIRST_BYTE);
  deadlines.connected();
  return { deadlines, startedAtMs };
}

function reportOf(reason: GatewayError | undefined): { name: string; message: string } | undefined {
  return reason === undefined ? undefined : { name: reason.errorName, message: reason.message };
}

describe('a provider call', () => {
  test('fails when the connection takes too long, and not before', () => {
    const startedAtMs = performance.now();
    const deadlines = new Deadlines(TIMEOUTS, FIRST_BYTE);
    expect(deadlines.check(startedAtMs + 5000 - TICK_MS)).toBeUndefined();
    expect(reportOf(deadlines.check(startedAtMs + 5000 + TICK_MS))).toEqual({
      name: 'provider_unavailable',
      message: 'The provider could not be reached within 5 seconds.',
    });
  });

  test('has the time for the first byte once it is connected', () => {
    const { deadlines, startedAtMs } = start();
    expect(deadlines.check(startedAtMs + 60_000 - TICK_MS)).toBeUndefined();
    expect(reportOf(deadlines.check(startedAtMs + 60_000 + TICK_MS))).toEqual({
      name: 'provider_timeout',
      message: 'The provider did not begin to answer within 60 seconds.',
    });
  });

  test('fails when it is silent for too long after its first byte', () => {
    const { deadlines, startedAtMs } = start();
    deadlines.arrived();
    deadlines.started();
    deadlines.check(startedAtMs);
    expect(deadlines.check(startedAtMs + 120_000 - TICK_MS)).toBeUndefined();
    expect(reportOf(deadlines.check(startedAtMs + 120_000 + TICK_MS))).toEqual({
      name: 'provider_timeout',
      message: 'The provider was silent for 120 seconds.',
    });
  });

  test('restarts the idle time whenever something arrives', () => {
    const { deadlines, startedAtMs } = start({ idleMs: 200 });
    deadlines.started();
    deadlines.arrived();
    deadlines.check(startedAtMs);
    deadlines.arrived();
    expect(deadlines.check(startedAtMs + 199)).toBeUndefined();
    expect(deadlines.check(startedAtMs + 398)).toBeUndefined();
    expect(reportOf(deadlines.check(startedAtMs + 399))?.message).toBe('The provider was silent for 0.2 seconds.');
  });

  test('does not time out while the client is slow to read', () => {
    const { deadlines, startedAtMs } = start();
    deadlines.started();
    deadlines.paused();
    expect(deadlines.check(startedAtMs + 120_000 + TICK_MS)).toBeUndefined();
  });

  test('fails after the total time, however active it is', () => {
    const { deadlines, startedAtMs } = start({ idleMs: 3_600_000 });
    deadlines.started();
    deadlines.arrived();
    expect(deadlines.check(startedAtMs + 1_800_000 - TICK_MS)).toBeUndefined();
    expect(reportOf(deadlines.check(startedAtMs + 1_800_000 + TICK_MS))).toEqual({
      name: 'provider_timeout',
      message: 'The provider did not finish within 1800 seconds.',
    });
  });

  test('does not time out once it is over', () => {
    const { deadlines, startedAtMs } = start();
    deadlines.stop();
    expect(deadlines.check(startedAtMs + 10 * TIMEOUTS.totalMs)).toBeUndefined();
  });

  test('reports a timeout only once', () => {
    const { deadlines, startedAtMs } = start();
    expect(deadlines.check(startedAtMs + 60_000 + TICK_MS)).toBeDefined();
    expect(deadlines.check(startedAtMs + 10 * TIMEOUTS.totalMs)).toBeUndefined();
  });

  test('asks the client to try again in a second', () => {
    const { deadlines, startedAtMs } = start();
    expect(deadlines.check(startedAtMs + 10 * TIMEOUTS.totalMs)?.details.retryAfterSeconds).toBe(1);
  });
});

describe('a provider that accepts no connections', () => {
  let deaf: Deaf;

  beforeAll(async () => {
    deaf = await startDeaf();
  });
  afterAll(() => deaf.kill());

  test('causes a server error in time and without a charge', async () => {
    const simulator = await startOpenAiSimulator();
    const gate = await startGate({
      simulator,
      timeouts: { connect_ms: 600 },
      providers: { deaf: { dialect: 'openai', base_url: `http://127.0.0.1:${deaf.port}/v1`, api_key: 'none' } },
      models: [describeModel('mock/deaf', 'deaf', { input: 2.5, output: 10 })],
    });
    try {
      const key = await gate.makeKey();
      const startedAtMs = performance.now();
      const response = await fetch(`${gate.baseUrl}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'mock/deaf', messages: [{ role: 'user', content: 'Hi' }] }),
      });
      expect(response.status).toBe(500);
      expect(await response.json()).toMatchObject({ error: { type: 'server_error', code: 'provider_unavailable' } });
      expect(performance.now() - startedAtMs).toBeWithin(500, 5000);
      expect(await gate.settledBalance(key)).toBe(key.creditNanos);
    } finally {
      await gate.stop();
      await simulator.stop();
    }
  });
});

/** A port whose connections are never completed. */
interface Deaf {
  readonly port: number;
  kill(): void;
}

/** Run by Node, which obeys the backlog. The runtime of these tests accepts hundreds of connections whatever the backlog. */
const LISTEN = `require('node:net').createServer().listen({ host: '127.0.0.1', port: 0, backlog: 1 }, function () {
  process.stdout.write(this.address().port + '\\n');
});`;
const QUEUE_MAX = 600;
const CONNECTED_WITHIN_MS = 200;

/** Starts a listener, suspends its process and fills its queue. The kernel then drops every further connection attempt. */
async function startDeaf(): Promise<Deaf> {
  const child = spawn('node', ['-e', LISTEN], { stdio: ['ignore', 'pipe', 'inherit'] });
  const waiting: Socket[] = [];
  const kill = (): void => {
    for (const socket of waiting) socket.destroy();
    child.kill('SIGKILL');
  };
  try {
    const port = await readPort(child);
    child.kill('SIGSTOP');
    while (await isConnected(port, waiting)) if (waiting.length > QUEUE_MAX) throw new Error('the queue never fills');
    return { port, kill };
  } catch (error) {
    kill();
    throw error;
  }
}

async function readPort(child: ChildProcess): Promise<number> {
  const [bytes] = (await once(child.stdout as NodeJS.EventEmitter, 'data')) as [Buffer];
  return Number(bytes.toString());
}

async function isConnected(port: number, waiting: Socket[]): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port });
  socket.on('error', () => socket.destroy());
  waiting.push(socket);
  return Promise.race([once(socket, 'connect').then(() => true), Bun.sleep(CONNECTED_WITHIN_MS).then(() => false)]);
}
