import type { Server } from 'bun';
import { seedRandom } from '../simulator/random.ts';

/** A local provider for screenshots and browser tests. It speaks the OpenAI dialect, answers with a delay, and sometimes fails. */
export interface Upstream {
  readonly url: string;
  stop(): Promise<void>;
}

const WORDS = 'the toll is counted when the gate opens and the page is shown before the cart goes on to the next town'.split(' ');
const FAILING_PERCENT = 3;
const FIRST_TOKEN_MS = { least: 30, most: 190 };

export function startUpstream(): Upstream {
  const random = seedRandom(7);
  const server: Server<undefined> = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const chat = (await request.json()) as { model: string; stream?: boolean; messages: { content: unknown }[] };
      await Bun.sleep(FIRST_TOKEN_MS.least + Math.min(random.below(FIRST_TOKEN_MS.most), random.below(FIRST_TOKEN_MS.most)));
      if (random.below(100) < FAILING_PERCENT)
        return Response.json({ error: { message: 'The model is overloaded.', type: 'server_error' } }, { status: 503 });
      const words = Array.from({ length: 20 + random.below(120) }, (_, index) => WORDS[index % WORDS.length] ?? '');
      const prompt = Math.ceil(JSON.stringify(chat.messages).length / 4);
      const usage = { prompt_tokens: prompt, completion_tokens: words.length, total_tokens: prompt + words.length };
      return chat.stream === true ? streamed(chat.model, words, usage) : whole(chat.model, words, usage);
    },
  });
  return { url: `http://127.0.0.1:${server.port}/v1`, stop: () => server.stop(true) };
}

function whole(model: string, words: readonly string[], usage: object): Response {
  const message = { role: 'assistant', content: words.join(' ') };
  return Response.json({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage,
  });
}

function streamed(model: string, words: readonly string[], usage: object): Response {
  const chunk = (choices: readonly object[], rest: object = {}): string =>
    `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model, choices, ...rest })}\n\n`;
  const events = [
    ...words.map((word, index) =>
      chunk([{ index: 0, delta: { ...(index === 0 && { role: 'assistant' }), content: `${word} ` }, finish_reason: null }]),
    ),
    chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]),
    chunk([], { usage }),
    'data: [DONE]\n\n',
  ];
  return new Response(events.join(''), { headers: { 'content-type': 'text/event-stream' } });
}
