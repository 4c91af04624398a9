import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { connect, type Socket } from 'node:net';
import { costNanos } from '../simulator/invoice.ts';
import { expectUpstreamAborted } from '../simulator/upstream-aborted.ts';
import type { Usage } from '../simulator/wire.ts';
import { type Caller, CHAT, readContent, readEvents, startCaller, STREAM } from './caller.ts';

const READERS = 16;
const ANSWER_BYTES = 60_000_000;
/** What one stalled reader may cost, including all buffers on the way. */
const BYTES_PER_READER_MAX = 8_000_000;
/** By then all buffers on the way are full, even on a busy machine. */
const FULL_WITHIN_MS = 15_000;

let caller: Caller;
let sockets: Socket[] = [];

beforeAll(async () => {
  caller = await startCaller({});
}, 120_000);
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  caller.simulator.reset();
});
afterAll(() => caller.stop(), 120_000);

/** Requests a stream over a connection of its own, and reads nothing. */
async function askWithoutReading(): Promise<Socket> {
  const { gate, key } = caller;
  const socket = connect({ port: Number(new URL(gate.origin).port), host: '127.0.0.1' });
  socket.pause();
  socket.on('error', () => socket.destroy());
  sockets.push(socket);
  const body = JSON.stringify({ ...CHAT, ...STREAM });
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: gate\r\ncontent-type: application/json\r\nauthorization: Bearer ${key.secret}`;
  socket.write(`${head}\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`);
  return socket;
}

test('readers that stall make the provider wait, and cost little memory', async () => {
  const { simulator, gate } = caller;
  simulator.always({ type: 'huge', bytes: ANSWER_BYTES });
  const before = gate.residentBytes();
  for (let index = 0; index < READERS; index += 1) await askWithoutReading();
  await simulator.untilRequests(READERS);
  const sent = (): string => simulator.requests.map((request) => request.chunksSent).join();
  const deadlineMs = performance.now() + FULL_WITHIN_MS;
  for (let last = ''; last !== sent() && performance.now() < deadlineMs; await Bun.sleep(1000)) last = sent();
  expect(gate.residentBytes() - before).toBeLessThan(READERS * BYTES_PER_READER_MAX);
  const whenFull = sent();
  await Bun.sleep(500);
  expect(sent()).toBe(whenFull);
  expect(simulator.requests.every((request) => request.finishedAt === undefined)).toBe(true);
}, 120_000);

test('a slow reader gets everything once, and pays what was reported', async () => {
  const { simulator } = caller;
  await caller.chargedNanos();
  simulator.always({ type: 'huge', bytes: 20_000_000 });
  const socket = await askWithoutReading();
  await simulator.untilRequests(1);
  await Bun.sleep(500);
  let text = '';
  const ended = new Promise((resolve) => socket.once('close', resolve));
  socket.on('data', (bytes: Buffer) => (text += bytes.toString('latin1')));
  socket.resume();
  await ended;
  const body = unchunk(text);
  expect(body).toEndWith('data: [DONE]\n\n');
  const content = readContent(readEvents(body));
  expect(content.length).toBeGreaterThanOrEqual(20_000_000);
  expect(await caller.chargedNanos()).toBe(costNanos(simulator.requests[0]?.usage as Usage));
}, 120_000);

test.each(['reads', 'stalls'])('the provider call is aborted at once when a caller leaves who %s', async (manner) => {
  const { simulator } = caller;
  simulator.always(
    manner === 'reads' ? { type: 'hang', moment: { at: 'after_chunks', chunks: 4 } } : { type: 'huge', bytes: ANSWER_BYTES },
  );
  await expectUpstreamAborted(simulator, async () => {
    const seen = simulator.requests.length;
    const socket = await askWithoutReading();
    await simulator.untilRequests(seen + 1);
    if (manner === 'reads') socket.resume();
    await Bun.sleep(500);
    const leftAtMs = performance.now();
    socket.destroy();
    return leftAtMs;
  });
});

/** Returns the body of a chunked response. */
function unchunk(text: string): string {
  const parts: string[] = [];
  let at = text.indexOf('\r\n\r\n') + 4;
  for (;;) {
    const lineEnd = text.indexOf('\r\n', at);
    const size = Number.parseInt(text.slice(at, lineEnd), 16);
    if (!(size > 0)) return parts.join('');
    parts.push(text.slice(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}
