/**
 * The upstream simulator: a provider with OpenAI's wire format that always gives the same answer.
 * Run by the benchmark as `bun bench/upstream.ts --port 9100 --pace-ms 5`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const CONTENT_CHUNKS = 48; // with the role chunk and the finish chunk: 50
const PROMPT_TOKENS = 25;
/** As OpenAI does, each chunk is padded, so that listeners cannot tell how long a token is. */
const PADDING = 'vK2yQn8Lw0XcT5';
const ENCODER = new TextEncoder();

const flags = parseArgs({
  options: { port: { type: 'string' }, 'pace-ms': { type: 'string', default: '5' } },
}).values;
const paceMs = Number(flags['pace-ms']);

Bun.serve({ hostname: '127.0.0.1', port: Number(flags.port), idleTimeout: 0, fetch: answer });

/** Number of open streams, and its peak. */
const streams = { open: 0, peak: 0 };

async function answer(request: Request): Promise<Response> {
  if (request.url.endsWith('/peak-streams')) return new Response(String(streams.peak));
  if (request.method !== 'POST' || !request.url.endsWith('/v1/chat/completions')) {
    return new Response('not found', { status: 404 });
  }
  const chat = readChat(await request.json());
  if (!chat.isStreaming) {
    return new Response(WHOLE_ANSWER, { headers: { 'content-type': 'application/json' } });
  }
  return new Response(streamPaced(chat.hasUsage ? EVENTS_WITH_USAGE : EVENTS), {
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' },
  });
}

function readChat(body: unknown): { isStreaming: boolean; hasUsage: boolean } {
  const chat = body as { stream?: boolean; stream_options?: { include_usage?: boolean } };
  return {
    isStreaming: chat.stream === true,
    hasUsage: chat.stream_options?.include_usage === true,
  };
}

function streamPaced(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  let next = 0;
  streams.open += 1;
  streams.peak = Math.max(streams.peak, streams.open);
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      // The load generator opens all its connections at once; a random first wait keeps the
      // streams from marching in step, which would let a proxy handle many of them in one wake-up.
      if (paceMs > 0) await sleep(next === 0 ? Math.random() * paceMs * 4 : paceMs);
      const chunk = chunks[next];
      next += 1;
      if (chunk !== undefined) controller.enqueue(chunk);
      if (next < chunks.length) return;
      controller.close();
      streams.open -= 1;
    },
    cancel() {
      streams.open -= 1;
    },
  });
}

const ENVELOPE = {
  id: 'chatcmpl-BqQ8vT2n5cXh7LwZk0yRm3sJdUe1f',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'gpt-x',
  service_tier: 'default',
  system_fingerprint: 'fp_a1b2c3',
};

const USAGE = {
  prompt_tokens: PROMPT_TOKENS,
  completion_tokens: CONTENT_CHUNKS,
  total_tokens: PROMPT_TOKENS + CONTENT_CHUNKS,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
};

const WHOLE_ANSWER = JSON.stringify({
  ...ENVELOPE,
  object: 'chat.completion',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'Hello there, everybody. '.repeat(6), refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage: USAGE,
});

const EVENTS: readonly Uint8Array[] = [...encodeDeltas({}), encodeEvent('[DONE]')];

/** If usage is requested, OpenAI puts `null` in every chunk and the numbers in a last chunk without choices. */
const EVENTS_WITH_USAGE: readonly Uint8Array[] = [
  ...encodeDeltas({ usage: null }),
  encodeEvent(JSON.stringify({ ...ENVELOPE, choices: [], usage: USAGE })),
  encodeEvent('[DONE]'),
];

function encodeDeltas(extra: { readonly usage?: null }): readonly Uint8Array[] {
  const encode = (delta: object, finishReason: 'stop' | null): Uint8Array => {
    const choice = { index: 0, delta, logprobs: null, finish_reason: finishReason };
    const obfuscation = PADDING.slice(JSON.stringify(delta).length % PADDING.length);
    return encodeEvent(JSON.stringify({ ...ENVELOPE, choices: [choice], ...extra, obfuscation }));
  };
  return [
    encode({ role: 'assistant', content: '', refusal: null }, null),
    ...Array.from({ length: CONTENT_CHUNKS }, (_, index) => encode({ content: ` word${index}` }, null)),
    encode({}, 'stop'),
  ];
}

function encodeEvent(payload: string): Uint8Array {
  return ENCODER.encode(`data: ${payload}\n\n`);
}
