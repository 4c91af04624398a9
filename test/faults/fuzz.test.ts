import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Gate } from '../simulator/gate.ts';
import { startGate } from '../simulator/gate.ts';
import type { OpenAiSimulator } from '../simulator/openai.ts';
import { startOpenAiSimulator } from '../simulator/openai.ts';
import type { FuzzKeys, Mutation } from './mutate.ts';
import { mutateRequest } from './mutate.ts';
import type { Outcome } from './raw-client.ts';
import { exchangeBytes } from './raw-client.ts';

const REQUESTS = Number(process.env['TOLLGATE_FUZZ_REQUESTS'] ?? 100_000);
const SEED = Number(process.env['TOLLGATE_FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const PARALLEL = 64;
/** Longer than any machine stalls. Only a request that hangs waits so long. */
const HANG_MS = 20_000;
/** A request that took longer is sent again: one that makes the gate slow does so every time, one that met a stall does not. */
const SLOW_MS = 1000;
const SLOW_TRIES_MAX = 5;
/** A stall makes all requests in flight slow, so there may be hundreds. This many are sent again. */
const SLOW_KEPT_MAX = 200;
/** The run ends early with this many. */
const VIOLATIONS_MAX = 5;
const RESIDENT_SAMPLE_REQUESTS = 200;
const RESIDENT_GROWTH_BYTES_MAX = 64 * 1024 * 1024;
const STATUSES = new Set([200, 400, 401, 403, 404, 429, 500]);
/** Outcomes that a long run must contain, or it did not try hard enough. */
const COVERED = ['http 200', 'http 400', 'http 401', 'http 403', 'http 404', 'http 429', 'not_http closed', 'oversized 400'];

let simulator: OpenAiSimulator;
let gate: Gate;
let keys: FuzzKeys;

beforeAll(async () => {
  simulator = await startOpenAiSimulator();
  gate = await startGate({ simulator, isInMemory: true, env: { TOLLGATE_LOG_LEVEL: 'error' } });
  const ample = { rpm: 1_000_000_000, tpm: 1_000_000_000_000, concurrent: 10_000 };
  const [rich, broke, hurried] = await Promise.all([
    gate.makeKey({ ...ample, creditUsd: '100000' }),
    gate.makeKey({ ...ample, creditUsd: '0' }),
    gate.makeKey({ rpm: 600, tpm: 10_000, creditUsd: '100000' }),
  ]);
  keys = { rich: rich.secret, broke: broke.secret, hurried: hurried.secret };
}, 120_000);
afterAll(async () => {
  await gate.stop();
  await simulator.stop();
}, 120_000);

interface Tally {
  /** How often each status or close occurred. */
  readonly counts: Map<string, number>;
  readonly violations: string[];
  /** The numbers of requests that took long. */
  readonly slow: number[];
}

test(
  `${REQUESTS} mutated requests (seed ${SEED}) get only documented responses`,
  async () => {
    console.log(`fuzz seed ${SEED}: replay with TOLLGATE_FUZZ_SEED=${SEED}`);
    const port = Number(new URL(gate.origin).port);
    const tally: Tally = { counts: new Map(), violations: [], slow: [] };
    const share = (part: number): number => Math.floor(REQUESTS * part);
    await sendRange(port, { from: 0, to: share(0.2) }, tally);
    const floorBefore = await sendRange(port, { from: share(0.2), to: share(0.6) }, tally);
    const floorAfter = await sendRange(port, { from: share(0.6), to: REQUESTS }, tally);
    const grownBytes = floorAfter - floorBefore;
    for (const index of tally.slow.slice(0, SLOW_KEPT_MAX)) await sendAgain(port, index, tally);

    console.log(
      `fuzz outcomes: ${[...tally.counts]
        .map(([name, count]) => `${name} ${count}`)
        .toSorted()
        .join(', ')}`,
    );
    console.log(`the floor of resident memory moved by ${(grownBytes / 1024 / 1024).toFixed(1)} MB after the warm-up`);
    expect(tally.violations.slice(0, VIOLATIONS_MAX)).toEqual([]);
    expect(grownBytes).toBeLessThan(RESIDENT_GROWTH_BYTES_MAX);
    if (REQUESTS >= 10_000) expect([...tally.counts.keys()]).toEqual(expect.arrayContaining(COVERED));
    await expectStillServing();
  },
  { timeout: 600_000 },
);

/**
 * Sends the requests and returns the lowest resident memory seen meanwhile. Garbage collection makes a saw-tooth; a leak
 * raises its floor.
 */
async function sendRange(port: number, range: { from: number; to: number }, tally: Tally): Promise<number> {
  let next = range.from;
  let floorBytes = gate.residentBytes();
  const work = async (): Promise<void> => {
    while (next < range.to && tally.violations.length < VIOLATIONS_MAX) {
      const index = next;
      next += 1;
      if (index % RESIDENT_SAMPLE_REQUESTS === 0) {
        floorBytes = Math.min(floorBytes, gate.residentBytes());
        // The record of this run is never read, and would grow without end.
        simulator.reset();
      }
      const mutation = mutateRequest(keys, SEED, index);
      const { outcome, tookMs } = await send(port, mutation);
      if (tookMs > SLOW_MS) tally.slow.push(index);
      judge(tally, index, mutation, outcome);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return floorBytes;
}

async function send(port: number, mutation: Mutation): Promise<{ readonly outcome: Outcome; readonly tookMs: number }> {
  const [isCut, isHead] = [!mutation.isComplete, mutation.method === 'HEAD'];
  const beganAtMs = performance.now();
  const outcome = await exchangeBytes({ port, bytes: mutation.bytes, isCut, isHead, timeoutMs: HANG_MS });
  return { outcome, tookMs: performance.now() - beganAtMs };
}

/** Sends a request that was slow until it is not. */
async function sendAgain(port: number, index: number, tally: Tally): Promise<void> {
  for (let tries = 0; tries < SLOW_TRIES_MAX; tries += 1) {
    if ((await send(port, mutateRequest(keys, SEED, index))).tookMs <= SLOW_MS) return;
  }
  tally.violations.push(`#${index}: took more than ${SLOW_MS} ms every time`);
}

function judge(tally: Tally, index: number, mutation: Mutation, outcome: Outcome): void {
  const name = `${mutation.kind} ${outcome.type === 'answer' ? outcome.status : outcome.type}`;
  tally.counts.set(name, (tally.counts.get(name) ?? 0) + 1);
  const complaint = complain(mutation, outcome);
  if (complaint === undefined) return;
  const sent = JSON.stringify(mutation.bytes.toString('latin1').slice(0, 1500));
  tally.violations.push(`#${index}: ${complaint}\nsent ${sent}\ngot ${JSON.stringify(outcome).slice(0, 600)}`);
}

function complain(mutation: Mutation, outcome: Outcome): string | undefined {
  if (outcome.type === 'hang') return `no answer within ${HANG_MS} ms`;
  if (outcome.type === 'closed') {
    return mutation.isComplete ? 'the connection was closed without an answer' : undefined;
  }
  if (!STATUSES.has(outcome.status)) return `status ${outcome.status} is not one of ours`;
  if (outcome.status === 200 || mutation.method === 'HEAD') return undefined;
  // A client that accepts HTML, as browsers do, is told by a page that there is none.
  if (outcome.status === 404 && acceptsPages(mutation) && outcome.body.startsWith('<!doctype html>')) return undefined;
  return isErrorBody(outcome.body) ? undefined : 'the body is not an error object';
}

function acceptsPages({ bytes }: Mutation): boolean {
  const text = bytes.toString('latin1');
  return /^accept: text\/html/imu.test(text) && !/^\S+ \/v1\//u.test(text);
}

function isErrorBody(text: string): boolean {
  try {
    const { error } = JSON.parse(text) as { error: Record<string, unknown> };
    const isText = typeof error['message'] === 'string' && typeof error['type'] === 'string';
    return isText && [error['param'], error['code']].every((value) => value === null || typeof value === 'string');
  } catch {
    // Not JSON, or JSON without an error object.
    return false;
  }
}

async function expectStillServing(): Promise<void> {
  const response = await fetch(`${gate.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${keys.rich}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'mock/gpt', messages: [{ role: 'user', content: 'Still there?' }] }),
  });
  expect(response.status).toBe(200);
  const errors = gate.logLines().filter((line) => /internal_error|unhandled|uncaught/iu.test(JSON.stringify(line)));
  expect(errors.slice(0, 3)).toEqual([]);
}
