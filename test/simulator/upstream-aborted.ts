import { expect } from 'bun:test';
import { until } from '../until.ts';
import type { OpenAiSimulator } from './openai.ts';

/** The promise: the upstream call is aborted this soon after the caller disconnects. */
const ABORT_WITHIN_MS = 100;
const ATTEMPTS = 5;

/**
 * Checks the promise for a caller who disconnects with this many upstream calls under way. `leave` returns when the
 * caller disconnected. It is repeated while it takes too long: a busy machine is late now and then, a slow gateway is
 * late every time.
 */
export async function expectUpstreamAborted(simulator: OpenAiSimulator, leave: () => Promise<number>, exchanges = 1): Promise<void> {
  const tookMs: number[] = [];
  do {
    const before = simulator.requests.length;
    const leftAtMs = await leave();
    const asked = simulator.requests.slice(before);
    expect(asked).toHaveLength(exchanges);
    await until(() => asked.every(({ abortedAt }) => abortedAt !== undefined));
    tookMs.push(Math.max(...asked.map(({ abortedAt = 0 }) => abortedAt - leftAtMs)));
  } while (tookMs.length < ATTEMPTS && Math.min(...tookMs) >= ABORT_WITHIN_MS);
  expect(Math.min(...tookMs)).toBeLessThan(ABORT_WITHIN_MS);
  await until(() => simulator.openReplies === 0);
}
