import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../../src/openai/types.ts';
import { bedrock } from '../../../src/providers/bedrock/bedrock.ts';
import { encodeToolName } from '../../../src/providers/bedrock/tool-names.ts';
import type { ProviderFault, StreamDecoder } from '../../../src/providers/dialect.ts';
import { faultOf } from '../fault-of.ts';
import { CITATION, CITED, CONTEXT, HIDDEN, THOUGHT, USAGE } from './decoding.ts';

const push = (decoder: StreamDecoder, ...events: readonly (readonly [name: string, body: object])[]): JsonObject[] =>
  events.flatMap(([name, body]) =>
    decoder.push({ name, data: JSON.stringify({ ...body, p: 'abc' }) }).map((text) => {
      const chunk = JSON.parse(text) as { choices: { delta: JsonObject; finish_reason: string | null }[] };
      return {
        ...chunk.choices[0]?.delta,
        ...(chunk.choices[0]?.finish_reason === null ? {} : { finish: chunk.choices[0]?.finish_reason }),
      };
    }),
  );
const ROLE = { role: 'assistant', content: '', refusal: null };
const delta = (index: number, value: object): [string, object] => ['contentBlockDelta', { contentBlockIndex: index, delta: value }];
const start = (index: number, toolUse: object): [string, object] => ['contentBlockStart', { contentBlockIndex: index, start: { toolUse } }];
const stop = (index: number): [string, object] => ['contentBlockStop', { contentBlockIndex: index }];

describe('a stream', () => {
  test.each<[string, readonly [string, object][], readonly JsonObject[]]>([
    [
      'of text',
      [
        ['messageStart', { role: 'assistant' }],
        delta(0, { text: 'Hel' }),
        delta(0, { text: '' }),
        delta(0, { text: 'lo' }),
        stop(0),
        ['messageStop', { stopReason: 'end_turn' }],
      ],
      [ROLE, { content: 'Hel' }, { content: 'lo' }, { finish: 'stop' }],
    ],
    [
      'with cited pages',
      [
        delta(0, { text: 'So: ' }),
        stop(0),
        delta(1, { text: 'sun' }),
        delta(1, { citation: CITATION }),
        delta(1, { citation: { location: { documentChar: {} } } }),
        stop(1),
        delta(2, { text: '.' }),
        stop(2),
        ['messageStop', { stopReason: 'end_turn' }],
      ],
      [ROLE, { content: 'So: ' }, { content: 'sun' }, { content: '.' }, { annotations: [CITED] }, { finish: 'stop' }],
    ],
    [
      'without a start event',
      [delta(0, { text: 'a' }), ['messageStop', { stopReason: 'max_tokens' }]],
      [ROLE, { content: 'a' }, { finish: 'length' }],
    ],
    [
      'with nothing but a call that the provider ran itself',
      [start(0, { type: 'server_tool_use', toolUseId: 's', name: 'g' }), stop(0), ['messageStop', { stopReason: 'tool_use' }]],
      [ROLE, { finish: 'stop' }],
    ],
    ['without content', [['messageStop', { stopReason: 'content_filtered' }]], [ROLE, { finish: 'content_filter' }]],
    [
      'with reasoning and two calls, numbered on their own',
      [
        delta(0, { reasoningContent: { text: 'Hm' } }),
        delta(0, { reasoningContent: { signature: 's' } }),
        stop(0),
        start(1, { toolUseId: 't1', name: encodeToolName('files.read') }),
        delta(1, { toolUse: { input: '{"path"' } }),
        delta(1, { toolUse: { input: ':"a"}' } }),
        delta(1, { toolUse: { input: '' } }),
        stop(1),
        start(2, { toolUseId: 't2', name: 'clock' }),
        stop(2),
        ['messageStop', { stopReason: 'tool_use' }],
      ],
      [
        ROLE,
        { reasoning_content: 'Hm' },
        { tool_calls: [{ index: 0, id: 't1', type: 'function', function: { name: 'files.read', arguments: '' } }] },
        { tool_calls: [{ index: 0, function: { arguments: '{"path"' } }] },
        { tool_calls: [{ index: 0, function: { arguments: ':"a"}' } }] },
        { tool_calls: [{ index: 1, id: 't2', type: 'function', function: { name: 'clock', arguments: '' } }] },
        { tool_calls: [{ index: 1, function: { arguments: '{}' } }] },
        { finish: 'tool_calls' },
      ],
    ],
    [
      'of a custom tool, whose text is sent when complete',
      [
        start(0, { toolUseId: 't1', name: 'patch' }),
        delta(0, { toolUse: { input: '{"input":"a' } }),
        delta(0, { toolUse: { input: 'b"}' } }),
        stop(0),
      ],
      [
        ROLE,
        { tool_calls: [{ index: 0, id: 't1', type: 'custom', custom: { name: 'patch', input: '' } }] },
        { tool_calls: [{ index: 0, custom: { input: 'ab' } }] },
      ],
    ],
    [
      'of custom tools that were cut off or malformed',
      [
        start(0, { toolUseId: 't1', name: 'patch' }),
        delta(0, { toolUse: { input: '{"inp' } }),
        stop(0),
        start(1, { toolUseId: 't2', name: 'patch' }),
        delta(1, { toolUse: { input: '[1]' } }),
        stop(1),
      ],
      [
        ROLE,
        { tool_calls: [{ index: 0, id: 't1', type: 'custom', custom: { name: 'patch', input: '' } }] },
        { tool_calls: [{ index: 0, custom: { input: '{"inp' } }] },
        { tool_calls: [{ index: 1, id: 't2', type: 'custom', custom: { name: 'patch', input: '' } }] },
        { tool_calls: [{ index: 1, custom: { input: '[1]' } }] },
      ],
    ],
    [
      'with unknown events',
      [
        ['hologram', {}],
        ['contentBlockDelta', {}],
        delta(0, { odd: 1 }),
        start(0, { type: 'server_tool_use', toolUseId: 's', name: 'g' }),
        delta(0, { toolUse: { input: '{}' } }),
        stop(0),
        ['contentBlockStart', {}],
      ],
      [],
    ],
  ])('%s', (_, events, expected) => {
    expect(push(bedrock.decodeStream(CONTEXT), ...events)).toEqual([...expected]);
  });

  test('is done once both the end and the usage have arrived, in either order', () => {
    const metadata: [string, object] = ['metadata', { usage: { ...USAGE, cacheReadInputTokens: 5 } }];
    const end: [string, object] = ['messageStop', { stopReason: 'end_turn' }];
    for (const events of [
      [metadata, end],
      [end, metadata],
    ] as const) {
      const decoder = bedrock.decodeStream(CONTEXT);
      expect(decoder).toMatchObject({ hasOutput: false, isComplete: false, isDone: false });
      push(decoder, events[0]);
      expect(decoder.isDone).toBe(false);
      push(decoder, events[1]);
      expect(decoder).toMatchObject({ hasOutput: true, isComplete: true, isDone: true });
      expect(decoder.usage).toEqual({ inputTokens: 3, cachedInputTokens: 5, cacheWriteTokens: 0, outputTokens: 4, reasoningTokens: 0 });
      expect(decoder.wireUsage).toMatchObject({ prompt_tokens: 8, completion_tokens: 4, total_tokens: 12 });
      const usage = { prompt_tokens: 8, completion_tokens: 4, total_tokens: 12 };
      expect(JSON.parse(decoder.usageChunk(usage))).toEqual({
        id: 'chatcmpl-r1',
        object: 'chat.completion.chunk',
        created: 1_790_000_000,
        model: 'mock/claude',
        choices: [],
        usage,
      });
    }
  });

  test('with implausible usage has none', () => {
    const decoder = bedrock.decodeStream(CONTEXT);
    push(decoder, ['metadata', { usage: { ...USAGE, inputTokens: -1 } }]);
    expect(decoder).toMatchObject({ usage: undefined, wireUsage: undefined });
  });

  test('counts its output, and has output from the first piece on', () => {
    const decoder = bedrock.decodeStream(CONTEXT);
    push(decoder, ['messageStart', {}]);
    expect(decoder.hasOutput).toBe(false);
    push(
      decoder,
      delta(0, { reasoningContent: { text: 'Hm' } }),
      delta(1, { text: 'Hello' }),
      start(2, { toolUseId: 't', name: 'clock' }),
      delta(2, { toolUse: { input: '{}' } }),
    );
    expect(decoder).toMatchObject({ hasOutput: true, outputText: expect.stringMatching(/^.{14}$/) });
  });

  test('carries reasoning with its signature, joined from pieces', () => {
    const decoder = bedrock.decodeStream({ ...CONTEXT, providerModel: 'us.anthropic.claude' });
    const [first, second] = [Buffer.from('hid'), Buffer.from('den')].map((bytes) => bytes.toString('base64'));
    push(
      decoder,
      delta(0, { reasoningContent: { text: 'H' } }),
      delta(0, { reasoningContent: { text: 'm' } }),
      delta(0, { reasoningContent: { signature: 's' } }),
      delta(0, { reasoningContent: { signature: 'ig' } }),
      stop(0),
      delta(1, { reasoningContent: { redactedContent: first } }),
      delta(1, { reasoningContent: { redactedContent: second } }),
      stop(1),
      start(2, { toolUseId: 't1', name: 'clock' }),
      stop(2),
      delta(3, { reasoningContent: { text: 'not signed' } }),
      stop(3),
      start(4, { toolUseId: 't2', name: 'clock' }),
    );
    expect([...(decoder.carried ?? [])]).toEqual([['t1', JSON.stringify({ model: 'anthropic.claude', reasoning: [THOUGHT, HIDDEN] })]]);
  });

  test.each<[string, string, string, Partial<ProviderFault>]>([
    ['exception', '{"type":"throttlingException","message":"Slow"}', 'a throttle', { status: 429, message: 'Slow' }],
    [
      'exception',
      '{"type":"serviceUnavailableException"}',
      'an outage',
      { status: 503, message: 'The provider answered with serviceUnavailableException' },
    ],
    ['exception', '{"type":"internalServerException","message":"x"}', 'a failure', { status: 500 }],
    ['exception', '{"type":"modelStreamErrorException","message":"x"}', 'a failure of the model', { status: 424 }],
    ['exception', '{"type":"validationException","message":"x"}', 'a mistake', { status: 400 }],
    ['exception', '{"type":"novelException","message":"x"}', 'something new', { status: 502, code: 'novelException' }],
    ['messageStop', '{"stopReason":"malformed_tool_use"}', 'a malformed answer', { status: 502 }],
    ['messageStart', '<html>', 'something that is not JSON', {}],
  ])('%s with %s: %s is a fault', (name, data, _, fault) => {
    expect(faultOf(() => bedrock.decodeStream(CONTEXT).push({ name, data }))).toMatchObject(fault);
  });

  test('ignores an event without a name or without an object', () => {
    expect(bedrock.decodeStream(CONTEXT).push({ name: undefined, data: '[]' })).toEqual([]);
  });
});
