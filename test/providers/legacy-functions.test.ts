import { describe, expect, test } from 'bun:test';
import type { ChatRequest, JsonObject } from '../../src/openai/types.ts';
import { HOSTS } from '../../src/providers/hosts.ts';
import { DIALECTS } from '../../src/providers/dialects.ts';
import { LegacyStream, writeLegacyReply } from '../../src/providers/legacy-answers.ts';
import { readFault } from '../../src/providers/read-fault.ts';
import { legacyCallId } from '../../src/providers/call-ids.ts';
import { withLegacyFunctions } from '../../src/providers/legacy-functions.ts';
import {
  ProviderFault,
  type DecodedReply,
  type Dialect,
  type ReplyContext,
  type StreamDecoder,
  type Target,
} from '../../src/providers/dialect.ts';
import { faultOf } from './fault-of.ts';

const HI = { role: 'user', content: 'Hi' };
const F = { name: 'f', parameters: { type: 'object' } };
const CALL = { name: 'f', arguments: '{"a":1}' };
const ID = legacyCallId(CALL);
const TARGET: Target = { baseUrl: '', apiKey: undefined, model: 'm', outputTokensMax: undefined };
const TOOL_CALL = { id: 't1', type: 'function', function: CALL };

/** A dialect that records its input and returns a given answer. */
function spy(reply: Partial<DecodedReply> = {}): {
  dialect: Dialect;
  seen: { chat?: ChatRequest; carried?: unknown };
  fail(fault: Error): void;
} {
  const seen: { chat?: ChatRequest; carried?: unknown } = {};
  let fault: Error | undefined;
  const chunks = ({ chat }: ReplyContext): StreamDecoder => {
    seen.chat = chat;
    return new ChunkStream();
  };
  const inner: Dialect = {
    encodeRequest(chat, { carried }) {
      if (fault !== undefined) throw fault;
      Object.assign(seen, { chat, carried });
      return { url: '', headers: {}, body: '', dropped: ['parallel_tool_calls', 'tools[0].function.strict', 'tool_choice', 'seed'] };
    },
    decodeReply(_, { chat }) {
      seen.chat = chat;
      return { body: {}, usage: undefined, outputText: '', ...reply };
    },
    decodeStream: chunks,
    decodeFault: readFault,
  };
  return { dialect: withLegacyFunctions(inner), seen, fail: (error) => void (fault = error) };
}

/** A stream whose events are the chunks themselves. */
class ChunkStream implements StreamDecoder {
  wireUsage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  usage = undefined;
  outputText = 'f{}';
  hasOutput = true;
  isComplete = true;
  isDone = true;
  carried = new Map([['t1', 'kept']]);
  continuation = 'token';
  push = ({ data }: { data: string }): readonly string[] => [data];
  cut = (): readonly string[] => ['{"cut":true}'];
  usageChunk = (): string => 'usage';
}

function encode(
  chat: Partial<ChatRequest>,
  carried?: ReadonlyMap<string, string>,
): { chat: JsonObject; carried: unknown; dropped: unknown } {
  const { dialect, seen } = spy();
  const { dropped } = dialect.encodeRequest({ model: 'm', messages: [HI], ...chat }, { ...TARGET, carried });
  return { chat: { ...seen.chat }, carried: seen.carried, dropped };
}

const context = (chat: Partial<ChatRequest>): ReplyContext => ({
  modelId: 'm',
  wantsUsage: false,
  requestId: 'r',
  createdSeconds: 1,
  chat: { model: 'm', messages: [HI], ...chat },
});

const chunk = (delta: JsonObject, finish: string | null = null): JsonObject => ({
  id: 'c',
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const run = (...chunks: readonly JsonObject[]): { decoder: LegacyStream; said: JsonObject[] } => {
  const decoder = new LegacyStream(new ChunkStream());
  const texts = chunks.flatMap((each) => decoder.push({ name: undefined, data: JSON.stringify(each) }));
  return { decoder, said: texts.map((text) => JSON.parse(text) as JsonObject) };
};

describe('a request in the legacy tool format', () => {
  const tools = [{ type: 'function', function: F }];
  test.each<[string, Partial<ChatRequest>, JsonObject]>([
    ['functions', { functions: [F] }, { tools, parallel_tool_calls: false }],
    ['a choice by keyword', { functions: [F], function_call: 'none' }, { tools, parallel_tool_calls: false, tool_choice: 'none' }],
    [
      'a choice by name',
      { functions: [F], function_call: { name: 'f' } },
      { tools, parallel_tool_calls: false, tool_choice: { type: 'function', function: { name: 'f' } } },
    ],
    ['a choice without functions', { function_call: 'auto' }, {}],
    [
      'functions together with tools',
      { functions: [F], tools: [{ type: 'custom' }], tool_choice: 'auto' },
      { tools: [{ type: 'custom' }, ...tools], tool_choice: 'auto' },
    ],
  ])('converts %s', (_, chat, expected) => {
    expect(encode(chat).chat).toEqual({ model: 'm', messages: [HI], ...expected });
  });

  test('gives calls and results ids, even when the same call is repeated', () => {
    const call = { role: 'assistant', content: null, function_call: CALL };
    const result = { role: 'function', name: 'f', content: 'ok' };
    const { chat, carried } = encode({ messages: [HI, call, result, call, { ...result, content: null }] }, new Map([[ID, 'kept']]));
    expect(chat['messages']).toEqual([
      HI,
      { role: 'assistant', content: null, tool_calls: [{ ...TOOL_CALL, id: ID }] },
      { role: 'tool', tool_call_id: ID, content: 'ok' },
      { role: 'assistant', content: null, tool_calls: [{ ...TOOL_CALL, id: `${ID}_3` }] },
      { role: 'tool', tool_call_id: `${ID}_3`, content: '' },
    ]);
    expect(carried).toEqual(
      new Map([
        [ID, 'kept'],
        [`${ID}_3`, 'kept'],
      ]),
    );
  });

  test('drops a call without a result, and turns a result without a call into a user message', () => {
    const { chat } = encode({
      messages: [HI, { role: 'assistant', function_call: { name: 'f' } }, HI, { role: 'function', name: 'f', content: 'x' }],
    });
    expect(chat['messages']).toEqual([HI, { role: 'assistant', content: null }, HI, { role: 'user', content: 'x' }]);
  });

  test('reports lost fields under their legacy names', () => {
    expect(encode({ functions: [F] }).dropped).toEqual(['functions[0].strict', 'function_call', 'seed']);
    expect(encode({ functions: [F], tools: [], parallel_tool_calls: true }).dropped).toEqual([
      'parallel_tool_calls',
      'tools[0].function.strict',
      'tool_choice',
      'seed',
    ]);
  });

  test.each([
    ['the field’s legacy name', new ProviderFault('No.', { status: 400, code: 'c', param: 'tools' }), 'functions'],
    ['no field', new ProviderFault('No.', { status: 400 }), undefined],
  ])('is refused with %s', (_, fault, param) => {
    const spied = spy();
    spied.fail(fault);
    expect(faultOf(() => spied.dialect.encodeRequest({ model: 'm', messages: [HI], functions: [F] }, TARGET))).toMatchObject({
      status: 400,
      param,
    });
  });
});

describe('an answer in the legacy tool format', () => {
  const body = {
    choices: [
      { index: 0, message: { content: null, tool_calls: [TOOL_CALL, { ...TOOL_CALL, id: 't2' }] }, finish_reason: 'tool_calls' },
      { index: 1, message: { content: 'a' }, finish_reason: 'stop' },
    ],
  };

  test('calls a function if functions were offered, and stores values under the derived call id', () => {
    const { dialect, seen } = spy({
      body,
      carried: new Map([
        ['t1', 'kept'],
        ['t2', 'lost'],
      ]),
    });
    const reply = dialect.decodeReply('', context({ functions: [F] }));
    expect(reply.body['choices']).toEqual([
      { index: 0, message: { content: null, function_call: CALL }, finish_reason: 'function_call' },
      body.choices[1],
    ]);
    expect(reply.carried).toEqual(new Map([[ID, 'kept']]));
    expect(seen.chat?.['tools']).toBeDefined();
  });

  test('calls a tool if tools were offered, whatever the history looks like', () => {
    const { dialect, seen } = spy({ body });
    const messages = [HI, { role: 'assistant', function_call: CALL }, { role: 'function', name: 'f', content: 'x' }, HI];
    expect(dialect.decodeReply('', context({ messages, tools: [] })).body).toBe(body);
    expect(JSON.stringify(seen.chat)).not.toContain('function_call"');
    expect(dialect.decodeStream(context({ tools: [] }))).toBeInstanceOf(ChunkStream);
  });

  test('without choices passes through', () => {
    expect(writeLegacyReply({ body: {}, usage: undefined, outputText: '' }).body).toEqual({ choices: [] });
  });
});

const of = (index: number, delta: JsonObject): JsonObject => ({ index, delta, finish_reason: null });

describe('a stream in the legacy tool format', () => {
  test('sends the first call as it grows and drops the others', () => {
    const head = { index: 0, id: 't1', type: 'function', function: { name: 'f', arguments: '' } };
    const { decoder, said } = run(
      chunk({ role: 'assistant', content: '' }),
      chunk({ tool_calls: [head] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] }),
      chunk({ tool_calls: [{ ...head, index: 1, id: 't2' }] }),
      chunk({}, 'tool_calls'),
    );
    expect(said).toEqual([
      chunk({ role: 'assistant', content: '' }),
      chunk({ function_call: { name: 'f', arguments: '' } }),
      chunk({ function_call: { arguments: '{"a":1}' } }),
      chunk({}, 'function_call'),
    ]);
    expect(decoder.carried).toEqual(new Map([[ID, 'kept']]));
  });

  test('holds the first call of each choice, also of several in one chunk', () => {
    const head = { index: 0, id: 't1', type: 'function', function: { name: 'f', arguments: '' } };
    const { said } = run({
      choices: [of(0, { tool_calls: [head] }), of(1, { content: 'a' }), of(2, { tool_calls: [{ ...head, index: 1 }] })],
    });
    expect(said).toEqual([{ choices: [of(0, { function_call: head.function }), of(1, { content: 'a' })] }]);
  });

  test('otherwise passes through unchanged', () => {
    const { decoder, said } = run(chunk({ content: 'a' }), chunk({}, 'stop'), {});
    expect(said).toEqual([chunk({ content: 'a' }), chunk({}, 'stop'), {}]);
    const { wireUsage, usage, outputText, outputLength, hasOutput, isComplete, isDone, continuation } = decoder;
    expect({ wireUsage, usage, outputText, outputLength, hasOutput, isComplete, isDone, continuation }).toEqual({
      wireUsage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      usage: undefined,
      outputText: 'f{}',
      outputLength: 3,
      hasOutput: true,
      isComplete: true,
      isDone: true,
      continuation: 'token',
    });
    expect([...decoder.cut(), decoder.usageChunk({ prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 })]).toEqual([
      '{"cut":true}',
      'usage',
    ]);
    expect(decoder.carried).toEqual(new Map());
  });
});

describe('a relayed host', () => {
  const chat: ChatRequest = { model: 'm', messages: [HI], functions: [F], function_call: { name: 'f' } };
  const answer = {
    id: 'c',
    choices: [{ index: 0, message: { role: 'assistant', content: null, tool_calls: [TOOL_CALL] }, finish_reason: 'tool_calls' }],
  };
  const delta = { tool_calls: [{ index: 0, ...TOOL_CALL }] };

  test.each(['vllm', 'mistral', 'openrouter'])('such as %s gets tools, and its calls are converted back', (id) => {
    const host = HOSTS[id];
    const { body, dropped } = DIALECTS.openai.encodeRequest(chat, { ...TARGET, host });
    expect(dropped).toEqual([]);
    expect(JSON.parse(body)).toEqual({
      model: 'm',
      messages: [HI],
      tools: [{ type: 'function', function: F }],
      tool_choice: { type: 'function', function: { name: 'f' } },
      parallel_tool_calls: false,
    });
    const asked = { ...context(chat), host };
    const call = { message: { function_call: CALL }, finish_reason: 'function_call' };
    expect(DIALECTS.openai.decodeReply(JSON.stringify(answer), asked).body['choices']).toMatchObject([call]);
    const decoder = DIALECTS.openai.decodeStream(asked);
    const texts = decoder.push({ name: undefined, data: JSON.stringify(chunk(delta, 'tool_calls')) });
    expect(texts.map((text) => JSON.parse(text) as JsonObject)).toMatchObject([chunk({ function_call: CALL }), chunk({}, 'function_call')]);
    expect(decoder.outputLength).toBeGreaterThan(0);
  });

  test.each([['openai', 'openai'] as const, ['azure', undefined] as const, ['openai', undefined] as const])(
    'that may know them gets functions: %s, host %p',
    (dialect, id) => {
      const { body } = DIALECTS[dialect].encodeRequest(chat, { ...TARGET, host: id === undefined ? undefined : HOSTS[id] });
      expect(JSON.parse(body)).toEqual(chat);
    },
  );
});
