import { expect, test } from 'bun:test';
import type { Answer, StreamSink } from '../../src/gateway/answer.ts';
import type { Dispatch } from '../../src/gateway/dispatch.ts';
import { byStream } from '../../src/gateway/whole-by-stream.ts';
import { HeldBytes } from '../../src/http/held-bytes.ts';
import { formatEvent } from '../../src/http/sse.ts';

type Ask = ReturnType<typeof byStream>;

/** Asks for an answer that arrives in events of a million characters. */
async function askFor(events: number, held: HeldBytes) {
  const event = formatEvent(JSON.stringify({ choices: [{ index: 0, delta: { content: 'x'.repeat(1_000_000) } }] }));
  const aborted: unknown[] = [];
  const source = {
    start: (sink: StreamSink) => {
      for (let count = 0; count < events; count += 1) sink.onText(event);
      sink.onComplete();
    },
    finish: () => undefined,
    tally: () => ({}),
  };
  const answer = { type: 'stream', provider: 'mock', servedModel: 'm', dropped: [], source, wantsUsage: false, credentials: undefined };
  const call = { heldBytes: 0, abortExchange: (reason: unknown) => aborted.push(reason) };
  const dispatch = { chat: {}, call } as unknown as Dispatch;
  const ask = byStream(async () => answer as unknown as Answer);
  const result = await ask({ held } as Parameters<Ask>[0], dispatch, {} as Parameters<Ask>[2]).catch((error: unknown) => error);
  return { result, call, aborted };
}

test('an endless answer is abandoned, and its provider call is aborted', async () => {
  const { result, aborted } = await askFor(65, new HeldBytes());
  expect(result).toMatchObject({ errorName: 'provider_error' });
  expect(aborted).toHaveLength(1);
});

test('an answer that is put together counts as held, and is abandoned when there is no room for it', async () => {
  const held = new HeldBytes(2_000_000);
  const { call } = await askFor(3, held);
  expect(call.heldBytes).toBeWithin(3_000_000, 3_100_000);
  expect(held.total).toBe(call.heldBytes);
  const { result, aborted, call: refused } = await askFor(2, held);
  expect(result).toMatchObject({ errorName: 'too_busy' });
  expect(aborted).toHaveLength(1);
  expect([refused.heldBytes, held.total]).toEqual([0, call.heldBytes]);
});
