import { afterAll, expect, test } from 'bun:test';
import { askToTheEnd } from '../../src/gateway/continuation.ts';
import { ContinuedStream } from '../../src/gateway/continued-stream.ts';
import type { Timed } from '../../src/gateway/call.ts';
import type { Gate } from '../../src/gateway/gate.ts';
import type { Answer, StreamSink, StreamSource } from '../../src/gateway/answer.ts';
import type { Dispatch } from '../../src/gateway/dispatch.ts';
import { HttpClient } from '../../src/http/client.ts';
import { HeldBytes } from '../../src/http/held-bytes.ts';

const TIMEOUTS = { connectMs: 1000, firstByteMs: 60_000, answerMs: 60_000, idleMs: 60_000, totalMs: 600_000, keepAliveMs: 1000 };
const BROKEN_OFF = { candidates: [{ content: { parts: [{ text: 'One' }] }, finishReason: 'CONTINUATION', continuationToken: 'more' }] };

/** Breaks off its first answer, and never delivers the rest. */
let answers = 0;
const provider = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: () => {
    answers += 1;
    return answers === 1 ? Response.json(BROKEN_OFF) : new Promise<Response>(() => undefined);
  },
});
const client = new HttpClient();
afterAll(async () => {
  client.close();
  await provider.stop(true);
});

test('the rest of an answer shares the deadline of all choices', async () => {
  const gate = { client, config: { timeouts: TIMEOUTS }, held: new HeldBytes() } as unknown as Gate;
  const watched: { readonly abort: (reason: unknown) => void; readonly deadlines: Timed }[] = [];
  const { promise: isAskedAgain, resolve } = Promise.withResolvers<undefined>();
  const watcher: Dispatch['watcher'] = {
    watch: (exchange, deadlines) => {
      watched.push({ abort: (reason) => exchange.abort(reason), deadlines });
      if (watched.length === 2) resolve(undefined);
    },
  };
  const endsAtMs = performance.now() + 50_000;
  const dispatch = {
    call: { id: 'req_1', startedAtMs: Date.now() },
    chat: { model: 'mock/gemini', messages: [{ role: 'user', content: 'Count' }] },
    model: { id: 'mock/gemini', maxOutputTokens: 1000, features: [] },
    toll: { accountId: 'a', affordRest: async () => true },
    watcher,
    endsAtMs,
  } as unknown as Dispatch;
  const leg = { route: { model: 'gemini-2.5-flash' }, provider: { id: 'google', dialect: 'gemini', baseUrl: provider.url.origin } };
  const answer = askToTheEnd(gate, dispatch, leg as unknown as Parameters<typeof askToTheEnd>[2]);
  await isAskedAgain;
  const rest = watched[1];
  expect(rest?.deadlines.check(endsAtMs - 1000)).toBeUndefined();
  expect(rest?.deadlines.check(endsAtMs + 1)?.message).toContain('did not finish');
  rest?.abort(new Error('The test is over'));
  expect(answer).rejects.toThrow();
});

test('the rest of an answer is ended if the answer was cut off in the meantime', async () => {
  const ended: string[] = [];
  const part = (name: string, continuation?: string): StreamSource =>
    ({
      start: (sink: StreamSink) => sink.onComplete(),
      finish: () => ended.push(name),
      cut: () => [],
      tally: () => ({}),
      continuation,
    }) as unknown as StreamSource;
  const { promise: rest, resolve } = Promise.withResolvers<Answer>();
  const stream = new ContinuedStream(part('the first', 'more'), { ask: () => rest });
  stream.start({ onText: () => undefined, onTokens: () => undefined, onComplete: () => undefined, onFailure: () => undefined });
  stream.cut();
  resolve({ type: 'stream', source: part('the rest') } as Answer);
  await rest;
  expect(ended).toEqual(['the first', 'the rest']);
});
