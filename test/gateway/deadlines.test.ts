import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Timeouts } from '../../src/config.ts';
import { GatewayError } from '../../src/errors.ts';
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
/** The clock moves on between making a deadline and asking for it. */
const TICK_MS = 1000;

function start(timeouts: Partial<Timeouts> = {}): { deadlines: Deadlines; signal: AbortSignal; startedAtMs: number } {
  const abort = new AbortController();
  const startedAtMs = performance.now();
  return { deadlines: new Deadlines(abort, { ...TIMEOUTS, ...timeouts }, FIRST_BYTE), signal: abort.signal, startedAtMs };
}

function reasonOf(signal: AbortSignal): { name: string; message: string } | undefined {
  if (!signal.aborted) return undefined;
  const reason: unknown = signal.reason;
  if (!(reason instanceof GatewayError)) throw new Error(`aborted by ${String(reason)}`);
  return { name: reason.errorName, message: reason.message };
}

describe('a provider call', () => {
  test('ends when nothing came within the time for the first byte, and not before', () => {
    const { deadlines, signal, startedAtMs } = start();
    deadlines.check(startedAtMs + 60_000 - TICK_MS);
    expect(reasonOf(signal)).toBeUndefined();
    deadlines.check(startedAtMs + 60_000 + TICK_MS);
    expect(reasonOf(signal)).toEqual({ name: 'provider_timeout', message: 'The provider did not begin to answer within 60 seconds.' });
  });

  test('that has begun ends when it was silent for too long', () => {
    const { deadlines, signal, startedAtMs } = start();
    deadlines.arrived();
    deadlines.started();
    deadlines.waiting();
    deadlines.check(startedAtMs + 60_000 + TICK_MS);
    deadlines.check(startedAtMs + 120_000 - TICK_MS);
    expect(reasonOf(signal)).toBeUndefined();
    deadlines.check(startedAtMs + 120_000 + TICK_MS);
    expect(reasonOf(signal)).toEqual({ name: 'provider_timeout', message: 'The provider was silent for 120 seconds.' });
  });

  test('gets its time anew with everything that arrives', async () => {
    const { deadlines, signal, startedAtMs } = start({ idleMs: 200 });
    deadlines.started();
    deadlines.waiting();
    await Bun.sleep(50);
    deadlines.arrived();
    deadlines.waiting();
    deadlines.check(startedAtMs + 240);
    expect(reasonOf(signal)).toBeUndefined();
    deadlines.check(performance.now() + 201);
    expect(reasonOf(signal)?.message).toBe('The provider was silent for 0.2 seconds.');
  });

  test('is not to blame while nobody waits for it, because the caller is slow to read', () => {
    const { deadlines, signal, startedAtMs } = start();
    deadlines.arrived();
    deadlines.started();
    deadlines.check(startedAtMs + 120_000 + TICK_MS);
    expect(reasonOf(signal)).toBeUndefined();
  });

  test('ends after its total time, however lively it is', () => {
    const { deadlines, signal, startedAtMs } = start({ idleMs: 3_600_000 });
    deadlines.arrived();
    deadlines.started();
    deadlines.waiting();
    deadlines.check(startedAtMs + 1_800_000 - TICK_MS);
    expect(reasonOf(signal)).toBeUndefined();
    deadlines.check(startedAtMs + 1_800_000 + TICK_MS);
    expect(reasonOf(signal)).toEqual({ name: 'provider_timeout', message: 'The provider did not finish within 1800 seconds.' });
  });

  test('that is over is left alone', () => {
    const { deadlines, signal, startedAtMs } = start();
    deadlines.stop();
    deadlines.check(startedAtMs + 10 * TIMEOUTS.totalMs);
    expect(signal.aborted).toBe(false);
  });

  test('ends once: the first reason stays', () => {
    const { deadlines, signal, startedAtMs } = start();
    deadlines.check(startedAtMs + 60_000 + TICK_MS);
    const reason: unknown = signal.reason;
    deadlines.check(startedAtMs + 10 * TIMEOUTS.totalMs);
    expect(signal.reason).toBe(reason);
  });

  test('asks the caller to try again in a second', () => {
    const { deadlines, signal, startedAtMs } = start();
    deadlines.check(startedAtMs + 10 * TIMEOUTS.totalMs);
    expect((signal.reason as GatewayError).details.retryAfterSeconds).toBe(1);
  });
});

describe('a provider that takes connections but does not answer', () => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket));
  let url: string;

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/chat/completions`;
  });
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  });
  afterAll(() => void server.close());

  test('is not taken for one that is gone', async () => {
    const { deadlines, signal } = start({ connectMs: 200 });
    deadlines.connecting(url);
    await watch(deadlines, 500);
    expect(reasonOf(signal)).toBeUndefined();
    deadlines.stop();
  });

  test('that refuses connections is not taken for one that is gone: the refusal tells more', async () => {
    const { deadlines, signal } = start({ connectMs: 200 });
    deadlines.connecting('http://127.0.0.1:1/v1/chat/completions');
    await watch(deadlines, 500);
    expect(reasonOf(signal)).toBeUndefined();
    deadlines.stop();
  });

  test('is not called a second time when it was quick', async () => {
    const { deadlines } = start({ connectMs: 200 });
    deadlines.connecting(`${url}?quick`);
    await Bun.sleep(50);
    deadlines.connected();
    await watch(deadlines, 300);
    expect(sockets.size).toBe(0);
    deadlines.stop();
  });

  test('is not called a second time when the call is over', async () => {
    const { deadlines } = start({ connectMs: 200 });
    deadlines.connecting(url);
    deadlines.stop();
    await watch(deadlines, 300);
    expect(sockets.size).toBe(0);
  });
});

describe('a provider that takes no connections', () => {
  let deaf: Deaf;

  beforeAll(async () => {
    deaf = await startDeaf();
  });
  afterAll(() => deaf.kill());

  test('is unavailable after the time to connect', async () => {
    const { deadlines, signal, startedAtMs } = start({ connectMs: 400 });
    const url = `http://127.0.0.1:${deaf.port}/v1/chat/completions`;
    deadlines.connecting(url);
    const failure = fetch(url, { method: 'POST', body: '{}', signal }).then(
      () => 'an answer',
      () => 'a failure',
    );
    await watch(deadlines, 300);
    expect(reasonOf(signal)).toBeUndefined();
    await watch(deadlines, 600, signal);
    expect(reasonOf(signal)).toEqual({ name: 'provider_unavailable', message: 'The provider could not be reached within 0.4 seconds.' });
    expect(await failure).toBe('a failure');
    expect(performance.now() - startedAtMs).toBeWithin(390, 900);
  });

  test('is a server error to the caller, in time and without a charge', async () => {
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
      expect(performance.now() - startedAtMs).toBeWithin(500, 2000);
      expect(await gate.settledBalance(key)).toBe(key.creditNanos);
    } finally {
      await gate.stop();
      await simulator.stop();
    }
  });
});

/** Looks at the clock as often as the gate does, for so long or until the call is ended. */
async function watch(deadlines: Deadlines, forMs: number, signal?: AbortSignal): Promise<void> {
  for (const endsAtMs = performance.now() + forMs; performance.now() < endsAtMs; await Bun.sleep(25)) {
    deadlines.check(performance.now());
    if (signal?.aborted === true) return;
  }
}

/** A port whose connections are never completed. */
interface Deaf {
  readonly port: number;
  kill(): void;
}

/** Node obeys the length of the queue; the runtime of these tests takes hundreds of connections whatever it is told. */
const LISTEN = `require('node:net').createServer().listen({ host: '127.0.0.1', port: 0, backlog: 1 }, function () {
  process.stdout.write(this.address().port + '\\n');
});`;
const QUEUE_MAX = 600;
const CONNECTED_WITHIN_MS = 200;

/** A listener that is stopped as a whole, and its queue filled: the kernel then drops every further knock. */
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
    while (await isConnected(port, waiting)) if (waiting.length > QUEUE_MAX) throw new Error('the queue has no end');
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
