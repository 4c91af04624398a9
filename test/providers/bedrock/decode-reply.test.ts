import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../../src/openai/types.ts';
import { bedrock } from '../../../src/providers/bedrock/bedrock.ts';
import { encodeToolName } from '../../../src/providers/bedrock/tool-names.ts';
import type { ProviderFault } from '../../../src/providers/dialect.ts';
import { faultOf } from '../fault-of.ts';
import { CITATION, CITED, CONTEXT, HIDDEN, THOUGHT, USAGE } from './decoding.ts';

const use = (id: string, name: string, input: unknown = {}): JsonObject => ({ toolUse: { toolUseId: id, name, input } });
const answer = (content: readonly unknown[], more: JsonObject = {}): string =>
  JSON.stringify({ output: { message: { role: 'assistant', content } }, stopReason: 'end_turn', usage: USAGE, ...more });

describe('a complete answer', () => {
  test.each<[string, readonly unknown[], JsonObject, string]>([
    ['text', [{ text: 'Hel' }, { text: 'lo' }], { content: 'Hello' }, 'stop'],
    ['no content', [], { content: '' }, 'stop'],
    ['reasoning', [THOUGHT, { text: 'Hi' }], { content: 'Hi', reasoning_content: 'Hm' }, 'stop'],
    ['redacted reasoning', [HIDDEN, { text: 'Hi' }], { content: 'Hi' }, 'stop'],
    ['text with sources', [{ citationsContent: { content: [{ text: 'Hi' }, {}], citations: [] } }], { content: 'Hi' }, 'stop'],
    [
      'text with cited pages',
      [
        { text: 'So: ' },
        {
          citationsContent: {
            content: [{ text: 'sun' }],
            citations: [CITATION, { location: { documentPage: {} } }, { location: { web: {} } }],
          },
        },
      ],
      { content: 'So: sun', annotations: [CITED] },
      'stop',
    ],
    ['unknown blocks', [{ text: 'Hi' }, { hologram: {} }, 'odd'], { content: 'Hi' }, 'stop'],
    [
      'a call without arguments, whatever the stop reason',
      [use('t1', 'clock', undefined)],
      { content: null, tool_calls: [{ id: 't1', type: 'function', function: { name: 'clock', arguments: '{}' } }] },
      'tool_calls',
    ],
    [
      'a call under the caller’s name',
      [{ text: 'a' }, use('t1', encodeToolName('files.read'), { path: 'ü' })],
      { content: 'a', tool_calls: [{ id: 't1', type: 'function', function: { name: 'files.read', arguments: '{"path":"ü"}' } }] },
      'tool_calls',
    ],
    [
      'calls of a custom tool',
      [use('t1', 'patch', { input: '*** Begin' }), use('t2', 'patch', { other: 1 })],
      {
        content: null,
        tool_calls: [
          { id: 't1', type: 'custom', custom: { name: 'patch', input: '*** Begin' } },
          { id: 't2', type: 'custom', custom: { name: 'patch', input: '{"other":1}' } },
        ],
      },
      'tool_calls',
    ],
    [
      'a call that the provider ran itself',
      [{ toolUse: { toolUseId: 's', name: 'grounding', type: 'server_tool_use' } }, { text: 'Hi' }],
      { content: 'Hi' },
      'stop',
    ],
  ])('of %s', (_, content, message, finish) => {
    const { body } = bedrock.decodeReply(answer(content), CONTEXT);
    expect(body).toEqual({
      id: 'chatcmpl-r1',
      object: 'chat.completion',
      created: 1_790_000_000,
      model: 'mock/claude',
      choices: [{ index: 0, message: { role: 'assistant', refusal: null, ...message }, logprobs: null, finish_reason: finish }],
      usage: {
        prompt_tokens: 3,
        completion_tokens: 4,
        total_tokens: 7,
        prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
    });
  });

  test.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['content_filtered', 'content_filter'],
    ['guardrail_intervened', 'content_filter'],
    ['something_new', 'stop'],
    // The call was one of a tool that the provider ran itself.
    ['tool_use', 'stop'],
  ])('that ended with %s reports %s', (stopReason, finish) => {
    const { body } = bedrock.decodeReply(answer([{ text: 'a' }], { stopReason }), CONTEXT);
    expect(body).toMatchObject({ choices: [{ finish_reason: finish }] });
  });

  test('carries signed or redacted reasoning with the call after it', () => {
    const plain = { reasoningContent: { reasoningText: { text: 'not signed' } } };
    const { carried } = bedrock.decodeReply(
      answer([THOUGHT, HIDDEN, use('t1', 'a'), plain, use('t2', 'a'), THOUGHT, use('t3', 'a')]),
      CONTEXT,
    );
    expect([...(carried ?? [])]).toEqual([
      ['t1', JSON.stringify({ model: 'anthropic.claude', reasoning: [THOUGHT, HIDDEN] })],
      ['t3', JSON.stringify({ model: 'anthropic.claude', reasoning: [THOUGHT] })],
    ]);
  });

  test('counts the cache in addition to the input, and text, reasoning and calls as output', () => {
    const usage = { inputTokens: 3, outputTokens: 4, cacheReadInputTokens: 100, cacheWriteInputTokens: 20, totalTokens: 127 };
    const reply = bedrock.decodeReply(answer([THOUGHT, { text: 'Hello' }], { usage }), CONTEXT);
    expect(reply.usage).toEqual({ inputTokens: 3, cachedInputTokens: 100, cacheWriteTokens: 20, outputTokens: 4, reasoningTokens: 0 });
    expect(reply.body['usage']).toMatchObject({
      prompt_tokens: 123,
      total_tokens: 127,
      prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 20 },
    });
    expect(reply.outputText.length).toBe(7);
    // A call is what the model wrote: its name and its input, without the JSON around them.
    const { outputText } = bedrock.decodeReply(answer([use('t1', 'clock'), use('t2', 'patch', { input: '+x' })]), CONTEXT);
    expect(outputText).toBe('clock{}patch{"input":"+x"}');
  });

  test.each<[string, unknown]>([
    ['missing', undefined],
    ['null', null],
    ['text', 'many'],
    ['negative', { ...USAGE, inputTokens: -1 }],
    ['fractional', { ...USAGE, outputTokens: 1.5 }],
    ['implausible', { ...USAGE, cacheReadInputTokens: 2 ** 40 }],
    ['incomplete', { inputTokens: 1 }],
  ])('with %s usage reports none', (_, usage) => {
    const reply = bedrock.decodeReply(answer([{ text: 'a' }], { usage }), CONTEXT);
    expect(reply.usage).toBeUndefined();
    expect(reply.body).not.toHaveProperty('usage');
  });

  test.each<[string, string, Partial<ProviderFault>]>([
    ['not JSON', '<html>', {}],
    ['a list', '[]', {}],
    ['without a message', '{"output":{}}', {}],
    ['without output', '{"message":"?"}', {}],
    ['broken off', answer([], { stopReason: 'malformed_model_output' }), { status: 502, code: 'malformed_model_output' }],
  ])('that is %s is a fault', (_, text, fault) => {
    expect(faultOf(() => bedrock.decodeReply(text, CONTEXT))).toMatchObject(fault);
  });
});

interface Reported {
  readonly status: number | undefined;
  readonly type: string | null;
}

const noHeader = (): null => null;

describe('an error', () => {
  test.each<[string, string, Reported, Partial<ProviderFault>]>([
    [
      'about the request',
      '{"message":"Malformed input"}',
      { status: 400, type: 'ValidationException:http://internal.amazon.com/' },
      { status: 400, code: 'ValidationException', message: 'Malformed input' },
    ],
    [
      'about an over-long request',
      '{"message":"Input is too long for requested model."}',
      { status: 400, type: 'ValidationException' },
      { status: 400, code: 'context_length_exceeded' },
    ],
    ...[
      'The model returned the following errors: prompt is too long: 200049 tokens > 200000 maximum',
      'The model returned the following errors: input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000',
      'Input Tokens Exceeded: Number of input tokens exceeds maximum length.',
    ].map((message): [string, string, { status: number; type: string }, JsonObject] => [
      'about an over-long request, in the words of its model',
      JSON.stringify({ message }),
      { status: 400, type: 'ValidationException' },
      { status: 400, code: 'context_length_exceeded' },
    ]),
    ['about our rights', '{"Message":"No"}', { status: 403, type: 'AccessDeniedException' }, { status: 403, message: 'No' }],
    ['about our quota', '{"message":"Quota"}', { status: 400, type: 'ServiceQuotaExceededException' }, { status: 429 }],
    ['about the rate limit', '{"message":"Slow"}', { status: 429, type: 'ThrottlingException' }, { status: 429 }],
    ['about a model that is not ready', '{"message":"Wait"}', { status: 429, type: 'ModelNotReadyException' }, { status: 429 }],
    ['about an unknown model', '{"message":"Gone"}', { status: 404, type: 'ResourceNotFoundException' }, { status: 404 }],
    ['from the model', '{"message":"Model"}', { status: 424, type: 'ModelErrorException' }, { status: 424 }],
    [
      'with its name in the body',
      '{"__type":"com.amazon.coral#ThrottlingException","message":"Slow"}',
      { status: 400, type: null },
      { status: 429, code: 'ThrottlingException' },
    ],
    ['without a name', '{"message":"Odd"}', { status: 418, type: null }, { status: 418, code: undefined }],
    ['with an empty body', '', { status: 502, type: null }, { status: 502, message: 'The provider answered with status 502' }],
    ['that is an HTML page', '<html>', { status: 503, type: null }, { status: 503 }],
    ['in a 200', '{"message":"Odd"}', { status: undefined, type: null }, { status: 502 }],
  ])('%s', (_, text, { status, type }, fault) => {
    const header = (name: string): string | null => (name === 'x-amzn-errortype' ? type : null);
    expect(bedrock.decodeFault(text, status, header)).toMatchObject(fault);
  });

  test('may come without headers', () => {
    expect(bedrock.decodeFault('{"message":"a","code":"ValidationException"}', 400, noHeader)).toMatchObject({
      code: 'ValidationException',
    });
  });
});
