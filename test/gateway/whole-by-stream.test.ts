import { expect, test } from 'bun:test';
import type { GatewayError } from '../../src/errors.ts';
import type { Answer, StreamSink } from '../../src/gateway/answer.ts';
import type { Dispatch } from '../../src/gateway/dispatch.ts';
import { byStream } from '../../src/gateway/whole-by-stream.ts';
import { formatEvent } from '../../src/http/sse.ts';

type Ask = ReturnType<typeof byStream>;

test('an endless answer is abandoned, and its provider call is aborted', async () => {
  const event = formatEvent(JSON.stringify({ choices: [{ index: 0, delta: { content: 'x'.repeat(1_000_000) } }] }));
  const aborted: unknown[] = [];
  const source = {
    start: (sink: StreamSink) => {
      for (let count = 0; count < 65; count += 1) sink.onText(event);
    },
  };
  const answer = { type: 'stream', provider: 'mock', servedModel: 'm', dropped: [], source, wantsUsage: false, credentials: undefined };
  const dispatch = { chat: {}, call: { abortAttempt: (reason: unknown) => aborted.push(reason) } } as unknown as Dispatch;
  const ask = byStream(async () => answer as unknown as Answer);
  const failure: unknown = await ask({} as Parameters<Ask>[0], dispatch, {} as Parameters<Ask>[2]).catch((error: unknown) => error);
  expect((failure as GatewayError).errorName).toBe('provider_error');
  expect(aborted).toHaveLength(1);
});
