import { describe, expect, test } from 'bun:test';
import type { ChatRequest, JsonObject } from '../../src/openai/types.ts';
import { anthropic, anthropicVertex } from '../../src/providers/anthropic/anthropic.ts';
import { azure } from '../../src/providers/azure.ts';
import { bedrock } from '../../src/providers/bedrock/bedrock.ts';
import { HOSTS } from '../../src/providers/hosts.ts';
import { gemini } from '../../src/providers/gemini/gemini.ts';
import { openai } from '../../src/providers/openai.ts';
import type { Dialect } from '../../src/providers/dialect.ts';
import { checkConverse } from '../simulator/converse-request.ts';

const MARK = { cache_control: { type: 'ephemeral' } };
const HOUR = { cache_control: { type: 'ephemeral', ttl: '1h' } };
const POINT = { cachePoint: { type: 'default' } };
const PDF = { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } };
const TOOL = { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } };
const text = (value: string, mark: object = {}): JsonObject => ({ type: 'text', text: value, ...mark });
const saying = (...content: readonly JsonObject[]): Partial<ChatRequest> => ({ messages: [{ role: 'user', content }] });

interface Sent {
  readonly body: JsonObject;
  readonly dropped: readonly string[];
}

function send(dialect: Dialect, model: string, chat: Partial<ChatRequest>, host?: string): Sent {
  const target = {
    baseUrl: 'https://host.example',
    apiKey: 'k',
    model,
    outputTokensMax: undefined,
    host: host === undefined ? undefined : HOSTS[host],
  };
  const { body, dropped = [] } = dialect.encodeRequest({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...chat }, target);
  return { body: JSON.parse(body) as JsonObject, dropped };
}

const toClaude = (chat: Partial<ChatRequest>): Sent => send(anthropic, 'claude-opus-5', chat);
const contentOf = ({ body }: Sent): unknown => (body['messages'] as JsonObject[]).map(({ content }) => content);

describe('cache marks for Claude', () => {
  test.each<[string, Partial<ChatRequest>, unknown, readonly string[]]>([
    ['on a text', saying(text('a', MARK)), [[text('a', MARK)]], []],
    ['for five minutes', saying(text('a', { cache_control: { type: 'ephemeral', ttl: '5m' } })), [[text('a', MARK)]], []],
    ['for an hour, which costs more', saying(text('a', HOUR)), [[text('a', MARK)]], ['messages[].content[].cache_control.ttl']],
    [
      'in OpenAI’s spelling',
      saying(text('a', { prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h' } })),
      [[text('a', MARK)]],
      ['messages[].content[].prompt_cache_breakpoint.ttl'],
    ],
    [
      'on a file',
      saying({ ...PDF, ...MARK }),
      [[{ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' }, title: 'a.pdf', ...MARK }]],
      [],
    ],
    ['on a message', { messages: [{ role: 'user', content: [text('a'), text('b')], ...MARK }] }, [[text('a'), text('b', MARK)]], []],
    ['on a message without content', { messages: [{ role: 'user', content: '', ...MARK }] }, [[text('.')]], []],
    [
      'on an assistant message',
      {
        messages: [
          { role: 'user', content: 'a' },
          { role: 'assistant', content: 'b', ...MARK },
          { role: 'user', content: 'c' },
        ],
      },
      [[text('a')], [text('b', MARK)], [text('c')]],
      [],
    ],
    [
      'in excess of four',
      saying(...['a', 'b', 'c', 'd', 'e'].map((value) => text(value, MARK))),
      [[text('a'), ...['b', 'c', 'd', 'e'].map((value) => text(value, MARK))]],
      ['messages[].content[].cache_control'],
    ],
  ])('%s', (_, chat, content, dropped) => {
    const sent = toClaude(chat);
    expect(contentOf(sent)).toEqual(content);
    expect(sent.dropped).toEqual(dropped);
  });

  test('on a tool, in either position', () => {
    const tools = [
      { ...TOOL, ...HOUR },
      { ...TOOL, function: { ...TOOL.function, name: 'g', ...MARK } },
    ];
    const { body, dropped } = toClaude({ tools });
    expect((body['tools'] as JsonObject[]).map((tool) => tool['cache_control'])).toEqual([MARK.cache_control, MARK.cache_control]);
    expect(dropped).toEqual(['tools[].cache_control.ttl']);
  });

  test('on the whole request use one of the four places, if the provider supports them', () => {
    const four = saying(...['a', 'b', 'c', 'd'].map((value) => text(value, MARK)));
    const { body, dropped } = toClaude({ ...four, ...HOUR });
    expect(body['cache_control']).toEqual({ type: 'ephemeral' });
    expect(JSON.stringify(body).split('cache_control').length - 1).toBe(4);
    expect(dropped).toEqual(['cache_control.ttl', 'messages[].content[].cache_control']);
    const onVertex = send(anthropicVertex, 'claude-opus-5', { ...four, ...MARK });
    expect(onVertex.body).not.toHaveProperty('cache_control');
    expect(onVertex.dropped).toEqual(['cache_control']);
  });
});

describe('cache marks for Bedrock', () => {
  const CLAUDE = 'anthropic.claude-sonnet-4-5-v1:0';
  const NOVA = 'amazon.nova-pro-v1:0';
  const LLAMA = 'meta.llama4-scout-17b-instruct-v1:0';
  const five = saying(...['a', 'b', 'c', 'd', 'e'].map((value) => text(value, MARK)));

  test.each<[string, string, Partial<ChatRequest>, number, readonly string[]]>([
    ['on text', NOVA, saying(text('a', MARK)), 1, []],
    ['for an hour', NOVA, saying(text('a', HOUR)), 1, ['messages[].content[].cache_control.ttl']],
    ['on a file', CLAUDE, saying(text('a'), { ...PDF, ...MARK }), 1, []],
    [
      'on a message',
      CLAUDE,
      {
        messages: [
          { role: 'system', content: 'a', ...MARK },
          { role: 'user', content: 'b' },
        ],
      },
      1,
      [],
    ],
    ['on a tool', CLAUDE, { tools: [{ ...TOOL, ...MARK }] }, 1, []],
    [
      'on a tool of a model that cannot cache tools',
      NOVA,
      { tools: [{ ...TOOL, function: { ...TOOL.function, ...MARK } }] },
      0,
      ['tools[].function.cache_control'],
    ],
    ['for a model without a cache', LLAMA, saying(text('a', MARK)), 0, ['messages[].content[].cache_control']],
    ['in excess of four', CLAUDE, { ...five, tools: [{ ...TOOL, ...MARK }] }, 4, ['messages[].content[].cache_control']],
    ['on the whole request', CLAUDE, MARK, 0, ['cache_control']],
  ])('%s (%s)', (...[, model, chat, points, dropped]) => {
    const sent = send(bedrock, model, chat);
    expect(checkConverse(sent.body, model)).toBeUndefined();
    expect(JSON.stringify(sent.body).split(JSON.stringify(POINT)).length - 1).toBe(points);
    expect(sent.dropped).toEqual(dropped);
  });
});

describe('cache marks a provider does not support', () => {
  const chat = { ...saying(text('a', MARK), PDF), tools: [{ ...TOOL, ...MARK }], ...MARK };
  const names = ['cache_control', 'messages[].content[].cache_control', 'tools[].cache_control'];

  test.each<[string, Dialect, string | undefined]>([
    ['Gemini', gemini, undefined],
    ['OpenAI', openai, 'openai'],
    ['Azure', azure, undefined],
    ['Mistral', openai, 'mistral'],
    ['vLLM', openai, 'vllm'],
  ])('are not sent to %s and are reported', (_, dialect, host) => {
    const { body, dropped } = send(dialect, 'gemini-3.6-flash', chat, host);
    expect(JSON.stringify(body)).not.toContain('cache_control');
    expect(new Set(dropped)).toEqual(new Set(names));
  });

  test('do not include OpenAI’s own marks at OpenAI', () => {
    const breakpoint = { prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h' } };
    const toOpenAi = send(openai, 'gpt-5.6-sol', saying(text('a', breakpoint)), 'openai');
    expect(toOpenAi).toMatchObject({ body: { messages: [{ content: [text('a', breakpoint)] }] }, dropped: [] });
    expect(send(openai, 'm', saying(text('a', breakpoint)), 'groq').dropped).toEqual(['messages[].content[].prompt_cache_breakpoint']);
  });

  test('are limited to five minutes at OpenRouter, and pass unchanged to an unknown host', () => {
    const toRouter = send(
      openai,
      'm',
      { ...saying(text('a', HOUR), text('b', MARK)), ...HOUR, tools: [TOOL, { ...TOOL, ...HOUR }] },
      'openrouter',
    );
    expect(toRouter.body).toMatchObject({
      messages: [{ content: [text('a', MARK), text('b', MARK)] }],
      ...MARK,
      tools: [TOOL, { ...TOOL, ...MARK }],
    });
    expect(toRouter.dropped).toEqual(['cache_control.ttl', 'messages[].content[].cache_control.ttl', 'tools[].cache_control.ttl']);
    expect(send(openai, 'm', saying(text('a', HOUR)))).toMatchObject({ body: { messages: [{ content: [text('a', HOUR)] }] }, dropped: [] });
    expect(send(openai, 'm', { messages: [{ role: 'user', content: 'a', ...HOUR }] }, 'openrouter').body).toMatchObject({
      messages: [{ content: 'a', ...MARK }],
    });
  });
});
