import { describe, expect, test } from 'bun:test';
import { failureOf } from '../simulator/failure.ts';
import { CHAT, OpenAiStage } from './openai-stage.ts';

const ABORT_WITHIN_MS = 100;

const stage = new OpenAiStage({ timeouts: { idle_ms: 5000 } });

async function expectUpstreamGone(leftAt: number): Promise<void> {
  await Bun.sleep(ABORT_WITHIN_MS + 20);
  const [request] = stage.simulator.requests;
  expect(request?.abortedAt).toBeDefined();
  expect((request?.abortedAt as number) - leftAt).toBeLessThan(ABORT_WITHIN_MS);
  expect(stage.simulator.openReplies).toBe(0);
}

describe('a caller who leaves', () => {
  test('in the middle of a stream ends the provider call', async () => {
    stage.simulator.next({ type: 'pace', gapMs: 25 });
    let leftAt = 0;
    let count = 0;
    for await (const _ of await stage.client.chat.completions.create({ ...CHAT, stream: true })) {
      count += 1;
      leftAt = performance.now();
      if (count === 3) break;
    }
    await expectUpstreamGone(leftAt);
    expect(stage.simulator.requests[0]?.chunksSent).toBeLessThan(10);
  });

  test.each([
    ['before the headers', true, { at: 'before_headers' }],
    ['before the first token', true, { at: 'after_headers' }],
    ['during a long pause of a stream', true, { at: 'after_chunks', chunks: 3 }],
    ['before a JSON answer', false, { at: 'before_headers' }],
    ['in the middle of a JSON answer', false, { at: 'after_chunks', chunks: 1 }],
  ] as const)('%s ends the provider call', async (_, stream, moment) => {
    stage.simulator.next({ type: 'hang', moment });
    const abort = new AbortController();
    const readAll = async (): Promise<void> => {
      const result = await stage.client.chat.completions.create({ ...CHAT, stream }, { signal: abort.signal });
      if (Symbol.asyncIterator in result) await Array.fromAsync(result);
      // The client ends an aborted stream as if it had finished.
      abort.signal.throwIfAborted();
    };
    const outcome = failureOf(readAll());
    await stage.simulator.untilRequests(1);
    await Bun.sleep(50);
    const leftAt = performance.now();
    abort.abort();
    await outcome;
    await expectUpstreamGone(leftAt);
  });
});
