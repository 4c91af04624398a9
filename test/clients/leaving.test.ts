import { describe, expect, test } from 'bun:test';
import { failureOf } from '../simulator/failure.ts';
import { expectUpstreamAborted } from '../simulator/upstream-aborted.ts';
import { CHAT, OpenAiStage } from './openai-stage.ts';

const stage = new OpenAiStage({ timeouts: { idle_ms: 5000 } });

describe('a client that leaves', () => {
  test('in the middle of a stream ends the provider call', async () => {
    stage.simulator.always({ type: 'pace', gapMs: 25 });
    await expectUpstreamAborted(stage.simulator, async () => {
      let leftAtMs = 0;
      let count = 0;
      for await (const _ of await stage.client.chat.completions.create({ ...CHAT, stream: true })) {
        count += 1;
        leftAtMs = performance.now();
        if (count === 3) break;
      }
      return leftAtMs;
    });
    expect(stage.simulator.requests.at(-1)?.chunksSent).toBeLessThan(10);
  });

  test.each([
    ['before the headers', true, { at: 'before_headers' }],
    ['before the first token', true, { at: 'after_headers' }],
    ['during a long pause of a stream', true, { at: 'after_chunks', chunks: 3 }],
    ['before a JSON answer', false, { at: 'before_headers' }],
    ['in the middle of a JSON answer', false, { at: 'after_chunks', chunks: 1 }],
  ] as const)('%s ends the provider call', async (_, stream, moment) => {
    stage.simulator.always({ type: 'hang', moment });
    await expectUpstreamAborted(stage.simulator, async () => {
      const abort = new AbortController();
      const readAll = async (): Promise<void> => {
        const result = await stage.client.chat.completions.create({ ...CHAT, stream }, { signal: abort.signal });
        if (Symbol.asyncIterator in result) await Array.fromAsync(result);
        // The client ends an aborted stream as if it had finished.
        abort.signal.throwIfAborted();
      };
      const outcome = failureOf(readAll());
      await stage.simulator.untilRequests(stage.simulator.requests.length + 1);
      await Bun.sleep(50);
      const leftAtMs = performance.now();
      abort.abort();
      await outcome;
      return leftAtMs;
    });
  });
});
