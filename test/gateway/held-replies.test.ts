import { expect, test } from 'bun:test';
import type { ProviderConfig } from '../../src/config.ts';
import { GatewayError } from '../../src/errors.ts';
import { ask } from '../../src/gateway/ask.ts';
import { Deadlines } from '../../src/gateway/deadlines.ts';
import type { Dispatch } from '../../src/gateway/dispatch.ts';
import { Call } from '../../src/gateway/call.ts';
import type { Gate } from '../../src/gateway/gate.ts';
import { Relay } from '../../src/gateway/relay.ts';
import { Exchange } from '../../src/http/exchange.ts';
import { HeldBytes } from '../../src/http/held-bytes.ts';
import { SseParser } from '../../src/http/sse.ts';
import { openai } from '../../src/providers/openai.ts';
import { answer, cleanUpAfterEach, makeClient, serve } from '../http/client-setup.ts';
import { failureOf } from '../simulator/failure.ts';

cleanUpAfterEach();

const TIMEOUTS = { connectMs: 5000, firstByteMs: 5000, answerMs: 5000, idleMs: 5000, totalMs: 5000, keepAliveMs: 5000 };

/** Asks a provider for a whole answer with this text. */
function askFor(text: string, held: HeldBytes) {
  const message = { role: 'assistant', content: text };
  const reply = JSON.stringify({ id: 'c', object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] });
  return askForReply(reply, held);
}

async function askForReply(reply: string, held: HeldBytes) {
  const server = await serve((socket) => void socket.write(answer(reply)));
  const gate = { config: { timeouts: TIMEOUTS }, client: makeClient(), held } as unknown as Gate;
  const call = new Call('req_1', 0, new Request('http://gate'), { address: () => '' });
  const chat = { model: 'mock/gpt', messages: [{ role: 'user', content: 'Hi' }] };
  const dispatch = { call, chat, model: { id: 'mock/gpt', features: [] } } as unknown as Dispatch;
  const provider = { id: 'mock', dialect: 'openai', baseUrl: `${server.origin}/v1`, apiKey: 'key' } as unknown as ProviderConfig;
  return { call, replyBytes: reply.length, answer: ask(gate, dispatch, { route: { provider: 'mock', model: 'gpt' }, provider }) };
}

test('a whole reply counts as held until its call ends', async () => {
  const held = new HeldBytes(200_000);
  const { call, replyBytes, answer: asked } = await askFor('x'.repeat(300_000), held);
  expect(await asked).toMatchObject({ type: 'whole' });
  expect([call.heldBytes, held.total]).toEqual([replyBytes, replyBytes]);
});

test('so does a short one, which arrives together with its head', async () => {
  const held = new HeldBytes(200_000);
  const { call, replyBytes, answer: asked } = await askFor('Hello', held);
  expect(await asked).toMatchObject({ type: 'whole' });
  expect([call.heldBytes, held.total]).toEqual([replyBytes, replyBytes]);
});

test('a short reply that there is no room for, or that cannot be read, leaves nothing held', async () => {
  const held = new HeldBytes(200_000);
  const garbage = await askForReply('not JSON', held);
  expect(await failureOf(garbage.answer)).toMatchObject({ errorName: 'provider_error' });
  expect([garbage.call.heldBytes, held.total]).toEqual([0, 0]);
  held.add(400_000);
  const refused = await askFor('Hello', held);
  expect(await failureOf(refused.answer)).toMatchObject({ errorName: 'too_busy' });
  expect([refused.call.heldBytes, held.total]).toEqual([0, 400_000]);
});

test('a reply that there is no room for is abandoned, and what had arrived of it is free again', async () => {
  const held = new HeldBytes(200_000);
  const { call, answer: asked } = await askFor('x'.repeat(500_000), held);
  expect(await failureOf(asked)).toMatchObject({ errorName: 'too_busy', details: { retryAfterSeconds: 1 } });
  expect([call.heldBytes, held.total]).toEqual([0, 0]);
});

test('an event of a stream counts as held until it is complete', async () => {
  let heldBytes = 0;
  const hold = (bytes: number): void => {
    heldBytes += bytes;
    if (heldBytes > 100_000) throw new GatewayError('too_busy', 'no room');
  };
  const exchange = new Exchange();
  const chat = { model: 'mock/gpt', messages: [] };
  const decoder = openai.decodeStream({ modelId: 'mock/gpt', wantsUsage: false, chat, requestId: 'req_1', createdSeconds: 1 });
  const relay = new Relay(
    exchange,
    { parser: new SseParser(), decoder, choices: 1, hold },
    new Deadlines(TIMEOUTS, { what: 'did not begin', ms: 5000 }),
  );
  const opening = relay.open(5000);
  const event = `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content: 'x'.repeat(60_000) } }] })}\n\n`;
  exchange.onBody(Buffer.from(event.slice(0, 50_000)));
  exchange.onBody(Buffer.from(event.slice(50_000, -1)));
  expect(heldBytes).toBe(event.length - 1);
  exchange.onBody(Buffer.from(event.slice(-1)));
  await opening;
  expect(heldBytes).toBe(0);
  const failed = new Promise((resolve) =>
    relay.start({ onText: () => undefined, onTokens: () => undefined, onComplete: () => undefined, onFailure: resolve }),
  );
  exchange.onBody(Buffer.from(`data: "${'x'.repeat(100_000)}`));
  expect(await failed).toMatchObject({ errorName: 'too_busy' });
});
