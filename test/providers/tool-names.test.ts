import { describe, expect, test } from 'bun:test';
import type { ChatRequest, JsonObject } from '../../src/openai/types.ts';
import { anthropic } from '../../src/providers/anthropic/anthropic.ts';
import { bedrock } from '../../src/providers/bedrock/bedrock.ts';
import { gemini } from '../../src/providers/gemini/gemini.ts';
import type { Dialect } from '../../src/providers/dialect.ts';

/** The names a dialect accepts, and the text of an answer with these calls. */
interface Sample {
  readonly dialect: Dialect;
  readonly model: string;
  readonly valid: RegExp;
  readonly answer: (names: readonly string[]) => unknown;
}

const SAMPLES: Readonly<Record<string, Sample>> = {
  anthropic: {
    dialect: anthropic,
    model: 'claude-opus-5',
    valid: /^[\w-]{1,128}$/u,
    answer: (names) => ({ content: names.map((name, id) => ({ type: 'tool_use', id: `${id}`, name, input: {} })) }),
  },
  bedrock: {
    dialect: bedrock,
    model: 'amazon.nova-pro-v1:0',
    valid: /^[\w-]{1,64}$/u,
    answer: (names) => ({
      output: { message: { content: names.map((name, id) => ({ toolUse: { toolUseId: `${id}`, name, input: {} } })) } },
    }),
  },
  gemini: {
    dialect: gemini,
    model: 'gemini-3-pro',
    valid: /^[A-Za-z_][\w.:-]{0,127}$/u,
    answer: (names) => ({
      candidates: [{ finishReason: 'STOP', content: { parts: names.map((name) => ({ functionCall: { name, args: {} } })) } }],
    }),
  },
};
const NAMES = [
  'a_b',
  'a.b',
  'a:b',
  'a b',
  'a/b',
  '2d',
  '$',
  'größe',
  'große',
  `${'x'.repeat(200)}1`,
  `${'x'.repeat(200)}2`,
  'answer_in_json',
];
const HI = { role: 'user', content: 'Hi' };

const chatOf = (names: readonly string[], messages: readonly JsonObject[] = [HI]): ChatRequest => ({
  model: 'm',
  messages,
  tools: names.map((name) => ({ type: 'function', function: { name } })),
});

const callOf = (id: string, name: string): JsonObject => ({ id, type: 'function', function: { name, arguments: '{}' } });

/** Returns the tools as sent, by the order of the request. */
function sentNames({ dialect, model }: Sample, chat: ChatRequest): string[] {
  const target = { baseUrl: 'https://host.example', apiKey: 'k', model, outputTokensMax: undefined };
  const { body } = dialect.encodeRequest(chat, target);
  const { tools = [], toolConfig } = JSON.parse(body) as { tools?: JsonObject[]; toolConfig?: { tools?: JsonObject[] } };
  const text = JSON.stringify([tools, toolConfig?.tools]);
  return [...text.matchAll(/"name":"([^"]+)"/gu)].map(([, name = '']) => name);
}

describe.each(Object.entries(SAMPLES))('the names of tools for %s', (_, sample) => {
  test('are all different and all accepted, and become the caller’s in the answer', () => {
    const names = sentNames(sample, chatOf(NAMES));
    expect(new Set(names).size).toBe(NAMES.length);
    expect(names.filter((name) => !sample.valid.test(name))).toEqual([]);
    const context = { modelId: 'm', wantsUsage: false, chat: chatOf(NAMES), requestId: 'r', createdSeconds: 1 };
    const { body } = sample.dialect.decodeReply(JSON.stringify(sample.answer(names)), context);
    const [choice] = body['choices'] as { message: { tool_calls: { function: { name: string } }[] } }[];
    expect(choice?.message.tool_calls.map((call) => call.function.name)).toEqual(NAMES);
  });

  test('do not depend on other tools, their order, or what was called before, so that prompts stay cached', () => {
    const called = ['a_b', 'a;b', 'a:b'];
    const history = [
      HI,
      { role: 'assistant', content: null, tool_calls: called.map((name, id) => callOf(`call_${id}`, name)) },
      ...called.map((_name, id) => ({ role: 'tool', tool_call_id: `call_${id}`, content: 'x' })),
    ];
    const [alone = ''] = sentNames(sample, chatOf(['a.b']));
    expect(sentNames(sample, chatOf(['a.b'], history))).toEqual([alone]);
    expect(sentNames(sample, chatOf(['a b', 'a_b', 'a.b']))[2]).toBe(alone);
  });
});
