import { expect } from 'bun:test';
import { until } from '../until.ts';
import type { OpenAiSimulator } from './openai.ts';

/** What is promised: the provider is left so soon after the caller has left. */
const PROMISED_MS = 100;
const TRIES = 5;

/**
 * Holds the promise for a caller who leaves, with so many exchanges under way; `leave` gives when that was. It leaves again
 * while that takes too long: a machine that does other things too is late now and then, a gate that is late is late each time.
 */
export async function expectProviderLeft(simulator: OpenAiSimulator, leave: () => Promise<number>, exchanges = 1): Promise<void> {
  const tookMs: number[] = [];
  do {
    const before = simulator.requests.length;
    const leftAtMs = await leave();
    const asked = simulator.requests.slice(before);
    expect(asked).toHaveLength(exchanges);
    await until(() => asked.every(({ abortedAt }) => abortedAt !== undefined));
    tookMs.push(Math.max(...asked.map(({ abortedAt = 0 }) => abortedAt - leftAtMs)));
  } while (tookMs.length < TRIES && Math.min(...tookMs) >= PROMISED_MS);
  expect(Math.min(...tookMs)).toBeLessThan(PROMISED_MS);
  await until(() => simulator.openReplies === 0);
}
