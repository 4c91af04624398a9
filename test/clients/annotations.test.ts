import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { MODELS, startTranslatedGate, type TranslatedGate } from '../simulator/translated.ts';

/** Tests what accompanies the text of an answer: cited pages and log probabilities. */

const QUESTION: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'What is new?' }];
const TEXT = 'Müller ☕ won the cup. Rain in 漢字 town.';

let service: TranslatedGate;
let client: OpenAI;

beforeAll(async () => {
  service = await startTranslatedGate();
  const { secret } = await service.gate.makeKey();
  client = new OpenAI({ baseURL: service.gate.baseUrl, apiKey: secret, maxRetries: 0 });
}, 120_000);
afterAll(() => service.stop(), 30_000);

interface Answer {
  readonly content: string;
  readonly annotations: readonly OpenAI.ChatCompletionMessage.Annotation[];
  readonly logprobs: readonly OpenAI.ChatCompletionTokenLogprob[];
  readonly dropped: string | null;
}

async function ask(request: OpenAI.ChatCompletionCreateParamsNonStreaming, isStreaming: boolean): Promise<Answer> {
  if (!isStreaming) {
    const { data, response } = await client.chat.completions.create(request).withResponse();
    const [choice] = data.choices;
    return {
      content: choice?.message.content ?? '',
      annotations: choice?.message.annotations ?? [],
      logprobs: choice?.logprobs?.content ?? [],
      dropped: response.headers.get('x-tollgate-dropped'),
    };
  }
  const { data, response } = await client.chat.completions.create({ ...request, stream: true }).withResponse();
  const choices: OpenAI.ChatCompletionChunk.Choice[] = [];
  for await (const chunk of data) choices.push(...chunk.choices);
  return {
    content: choices.map(({ delta }) => delta.content ?? '').join(''),
    // The client's types have annotations only for whole answers, although the API streams them.
    annotations: choices.flatMap(({ delta }) => (delta as OpenAI.ChatCompletionMessage).annotations ?? []),
    logprobs: choices.flatMap(({ logprobs }) => logprobs?.content ?? []),
    dropped: response.headers.get('x-tollgate-dropped'),
  };
}

function citation(of: string, url: string, title: string): OpenAI.ChatCompletionMessage.Annotation {
  const start = TEXT.indexOf(of);
  return { type: 'url_citation', url_citation: { start_index: start, end_index: start + of.length, url, title } };
}

test('the citations of several parts of a streamed answer form one list, because client helpers keep only one', async () => {
  service.reset();
  const parts = ['One.', ' Two.', ' Three.'];
  const events = parts.flatMap((text, index) => [
    { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index, delta: { type: 'text_delta', text } },
    { type: 'content_block_delta', index, delta: { type: 'citations_delta', citation: { url: `https://${index}.example`, title: text } } },
    { type: 'content_block_stop', index },
  ]);
  const usage = { input_tokens: 5, output_tokens: 9 };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [], usage };
  const last = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage };
  const reply = { body: '', events: [{ type: 'message_start', message }, ...events, last, { type: 'message_stop' }] };
  service.anthropic.next({ type: 'recorded', reply });
  const { choices } = await client.chat.completions.stream({ model: MODELS.anthropic, messages: QUESTION }).finalChatCompletion();
  const answer = choices[0]?.message;
  expect(
    answer?.annotations?.map(({ url_citation: { url, start_index: start, end_index: end } }) => [url, answer.content?.slice(start, end)]),
  ).toEqual(parts.map((text, index) => [`https://${index}.example`, text]));
});

describe.each([false, true])('streamed: %p', (isStreaming) => {
  test('pages of a Gemini search become annotations, positioned by characters', async () => {
    service.reset();
    service.gemini.next({
      type: 'grounded',
      text: TEXT,
      pages: [
        { uri: 'https://a.example/cup', title: 'The cup', of: 'Müller ☕ won the cup.' },
        { uri: 'https://b.example/rain', title: 'Rain', of: 'Rain in 漢字 town.' },
      ],
    });
    const answer = await ask({ model: MODELS.gemini, messages: QUESTION }, isStreaming);
    expect(answer.content).toBe(TEXT);
    expect(answer.annotations).toEqual([
      citation('Müller ☕ won the cup.', 'https://a.example/cup', 'The cup'),
      citation('Rain in 漢字 town.', 'https://b.example/rain', 'Rain'),
    ]);
  });

  test('pages that Claude cites become annotations', async () => {
    service.reset();
    service.anthropic.next({ type: 'answer', text: TEXT, search: { url: 'https://a.example/cup', title: 'The cup' } });
    const { annotations, content } = await ask({ model: MODELS.anthropic, messages: QUESTION, max_tokens: 500 }, isStreaming);
    expect(annotations).toEqual([
      { type: 'url_citation', url_citation: { start_index: 0, end_index: content.length, url: 'https://a.example/cup', title: 'The cup' } },
    ]);
  });

  test('tokens carry log probabilities where the Gemini model reports them', async () => {
    service.reset();
    const answer = await ask({ model: 'mock/gemini-2', messages: QUESTION, logprobs: true, top_logprobs: 2 }, isStreaming);
    expect(answer.dropped).toBeNull();
    expect(answer.logprobs.map(({ token }) => token).join('')).toBe(answer.content);
    const [first] = answer.logprobs;
    const bytes = [...Buffer.from(first?.token ?? '')];
    expect(first).toEqual({
      token: 'Hello!',
      logprob: -0.5,
      bytes,
      top_logprobs: [
        { token: 'Hello!', logprob: -0.5, bytes },
        { token: '?', logprob: -0.25, bytes: [63] },
      ],
    });
  });

  test('an answer that was continued has log probabilities to its end', async () => {
    service.reset();
    const broken = { type: 'continuation', texts: ['One', ' two three.'] } as const;
    service.gemini.next(broken);
    service.gemini.next(broken);
    const answer = await ask({ model: 'mock/gemini-2', messages: QUESTION, logprobs: true }, isStreaming);
    expect(answer.logprobs.map(({ token }) => token)).toEqual(['One', ' two', ' three.']);
  });

  test('unsupported log probabilities are left out, and reported in the header', async () => {
    service.reset();
    const answer = await ask({ model: MODELS.gemini, messages: QUESTION, logprobs: true, top_logprobs: 2 }, isStreaming);
    expect(answer.logprobs).toEqual([]);
    expect(answer.dropped).toBe('logprobs, top_logprobs');
  });
});
