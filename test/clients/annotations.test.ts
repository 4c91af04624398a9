import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { MODELS, startTranslatedGate, type TranslatedGate } from '../simulator/translated.ts';

/** What stands beside the words of an answer: the pages that it cites, and how likely its tokens were. */

const QUESTION: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'What is new?' }];
const TEXT = 'Müller ☕ won the cup. Rain in 漢字 town.';

let service: TranslatedGate;
let client: OpenAI;

beforeAll(async () => {
  service = await startTranslatedGate();
  const { secret } = await service.gate.makeKey();
  client = new OpenAI({ baseURL: service.gate.baseUrl, apiKey: secret, maxRetries: 0 });
}, 60_000);
afterAll(() => service.stop(), 30_000);

interface Said {
  readonly content: string;
  readonly annotations: readonly OpenAI.ChatCompletionMessage.Annotation[];
  readonly logprobs: readonly OpenAI.ChatCompletionTokenLogprob[];
  readonly dropped: string | null;
}

async function ask(request: OpenAI.ChatCompletionCreateParamsNonStreaming, isStreaming: boolean): Promise<Said> {
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
    // The client's types know annotations of whole answers only, though the API streams them.
    annotations: choices.flatMap(({ delta }) => (delta as OpenAI.ChatCompletionMessage).annotations ?? []),
    logprobs: choices.flatMap(({ logprobs }) => logprobs?.content ?? []),
    dropped: response.headers.get('x-tollgate-dropped'),
  };
}

function citation(of: string, url: string, title: string): OpenAI.ChatCompletionMessage.Annotation {
  const start = TEXT.indexOf(of);
  return { type: 'url_citation', url_citation: { start_index: start, end_index: start + of.length, url, title } };
}

test('the pages of several parts of a streamed answer are one list, for helpers keep one', async () => {
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
  const said = choices[0]?.message;
  expect(
    said?.annotations?.map(({ url_citation: { url, start_index: start, end_index: end } }) => [url, said.content?.slice(start, end)]),
  ).toEqual(parts.map((text, index) => [`https://${index}.example`, text]));
});

describe.each([false, true])('streamed: %p', (isStreaming) => {
  test('pages of a search by Gemini are annotations, at the places of the answer in characters', async () => {
    service.reset();
    service.gemini.next({
      type: 'grounded',
      text: TEXT,
      pages: [
        { uri: 'https://a.example/cup', title: 'The cup', of: 'Müller ☕ won the cup.' },
        { uri: 'https://b.example/rain', title: 'Rain', of: 'Rain in 漢字 town.' },
      ],
    });
    const said = await ask({ model: MODELS.gemini, messages: QUESTION }, isStreaming);
    expect(said.content).toBe(TEXT);
    expect(said.annotations).toEqual([
      citation('Müller ☕ won the cup.', 'https://a.example/cup', 'The cup'),
      citation('Rain in 漢字 town.', 'https://b.example/rain', 'Rain'),
    ]);
  });

  test('pages that Claude cites are annotations', async () => {
    service.reset();
    service.anthropic.next({ type: 'answer', text: TEXT, search: { url: 'https://a.example/cup', title: 'The cup' } });
    const { annotations, content } = await ask({ model: MODELS.anthropic, messages: QUESTION, max_tokens: 500 }, isStreaming);
    expect(annotations).toEqual([
      { type: 'url_citation', url_citation: { start_index: 0, end_index: content.length, url: 'https://a.example/cup', title: 'The cup' } },
    ]);
  });

  test('tokens come with their probabilities where the Gemini model tells them', async () => {
    service.reset();
    const said = await ask({ model: 'mock/gemini-2', messages: QUESTION, logprobs: true, top_logprobs: 2 }, isStreaming);
    expect(said.dropped).toBeNull();
    expect(said.logprobs.map(({ token }) => token).join('')).toBe(said.content);
    const [first] = said.logprobs;
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

  test('tokens of an answer that broke off are told to its end', async () => {
    service.reset();
    const broken = { type: 'continuation', texts: ['One', ' two three.'] } as const;
    service.gemini.next(broken);
    service.gemini.next(broken);
    const said = await ask({ model: 'mock/gemini-2', messages: QUESTION, logprobs: true }, isStreaming);
    expect(said.logprobs.map(({ token }) => token)).toEqual(['One', ' two', ' three.']);
  });

  test('the probabilities of others are left out, and the caller is told', async () => {
    service.reset();
    const said = await ask({ model: MODELS.gemini, messages: QUESTION, logprobs: true, top_logprobs: 2 }, isStreaming);
    expect(said.logprobs).toEqual([]);
    expect(said.dropped).toBe('logprobs, top_logprobs');
  });
});
