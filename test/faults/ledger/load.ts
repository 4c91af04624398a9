import type { Behaviour } from '../../simulator/behaviours.ts';
import type { OpenAiSimulator, ReceivedRequest } from '../../simulator/openai.ts';
import type { Random } from '../../simulator/random.ts';
import type { JsonObject } from '../../simulator/wire.ts';
import { ask, type Asked, isFinished } from './ask.ts';
import type { SiteKey } from './site.ts';

/** One request of a caller under load, and its result. */
export interface Sent extends Asked {
  /** Its message, which identifies the request, also at the provider. */
  readonly message: string;
  readonly key: SiteKey;
  readonly isStreaming: boolean;
  readonly bodyBytes: number;
}

/** Callers that continue until they are stopped. */
export interface Load {
  /** All requests that have ended so far. */
  readonly sent: readonly Sent[];
  /** Lets each caller finish its current request, and no more. */
  stop(): Promise<readonly Sent[]>;
}

/** What callers ask for: the most words in an answer, and the longest gap between them. */
export interface Appetite {
  readonly wordsMax: number;
  readonly gapMsMax: number;
}

/** Every word of an answer, so that its length shows how many words it has. */
export const WORD = ' word';
const PAUSE_MS = 20;

/** Starts one caller per key. Each sends one request after the other, streamed or not, as the random numbers decide. */
export function startLoad(origins: readonly string[], keys: readonly SiteKey[], random: Random, appetite: Appetite): Load {
  const sent: Sent[] = [];
  const state = { isStopped: false };
  const run = async (key: SiteKey, index: number): Promise<void> => {
    while (!state.isStopped) {
      const body = makeBody(random, appetite);
      const asked = await ask(origins[index % origins.length] ?? '', key, body);
      sent.push({ ...asked, key, ...describeBody(body) });
      // A caller that got no response has no gateway any more. One that was refused waits a little, as callers do.
      if (asked.status === undefined) return;
      if (!isFinished(asked)) await Bun.sleep(PAUSE_MS);
    }
  };
  const running = Promise.all(keys.map(run));
  return {
    sent,
    async stop() {
      state.isStopped = true;
      await running;
      return sent;
    },
  };
}

/** Builds a request whose message tells the provider how to answer it. */
export function makeBody(random: Random, { wordsMax, gapMsMax }: Appetite): JsonObject {
  const words = 1 + random.below(wordsMax);
  const gapMs = random.below(2) === 0 ? 0 : random.below(gapMsMax + 1);
  return makeChat({ words, gapMs, isStreaming: random.below(2) === 0, outputTokensMax: random.below(2) === 0 ? wordsMax : undefined });
}

/** Builds a request for an answer of this many words. */
export function makeChat(wish: { words: number; gapMs: number; isStreaming: boolean; outputTokensMax?: number | undefined }): JsonObject {
  return {
    model: 'mock/gpt',
    messages: [{ role: 'user', content: `${wish.words} words, ${wish.gapMs} ms apart, for ${crypto.randomUUID()}` }],
    ...(wish.isStreaming && { stream: true }),
    ...(wish.outputTokensMax !== undefined && { max_tokens: wish.outputTokensMax }),
  };
}

/** Returns the same facts in the shape of a sent request. */
export function describeBody(body: JsonObject): Pick<Sent, 'message' | 'isStreaming' | 'bodyBytes'> {
  return { message: messageOf(body), isStreaming: body['stream'] === true, bodyBytes: JSON.stringify(body).length };
}

/** Makes the provider answer each request as its message says. */
export function obeyMessages(provider: OpenAiSimulator): void {
  provider.decide((body): Behaviour => {
    const [, words = '1', gapMs = '0'] = /^(\d+) words, (\d+) ms/u.exec(messageOf(body)) ?? [];
    return { type: 'answer', text: WORD.repeat(Number(words)), gapMs: Number(gapMs) };
  });
}

/** Returns the provider's invoice: every call it received, by message. If there are several, the last one counts. */
export function invoiceOf(provider: OpenAiSimulator): Map<string, ReceivedRequest> {
  return new Map(provider.requests.map((request) => [messageOf(request.body), request]));
}

/** Returns the provider's last call for this message. */
export function findCall(provider: OpenAiSimulator, message: string): ReceivedRequest | undefined {
  return provider.requests.findLast((request) => messageOf(request.body) === message);
}

/** Returns how many characters of the answer's text the provider has sent. The first chunk of a stream has none. */
export function charactersSent(call: ReceivedRequest): number {
  return Math.max(0, call.chunksSent - 1) * WORD.length;
}

function messageOf(body: JsonObject): string {
  const messages = body['messages'] as readonly { readonly content: string }[] | undefined;
  return messages?.[0]?.content ?? '';
}
