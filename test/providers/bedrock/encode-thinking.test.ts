import { describe, expect, test } from 'bun:test';
import type { ChatRequest, JsonObject } from '../../../src/openai/types.ts';
import { CALL, CHAT, encode, NOVA, SONNET_45, SONNET_55, WEATHER } from './encoding.ts';

const fields = (model: string, chat: Partial<ChatRequest>): JsonObject => {
  const { body, dropped } = encode(chat, { model });
  const { messages: _, ...rest } = body;
  return { ...rest, dropped };
};
const adaptive = { additionalModelRequestFields: { thinking: { type: 'adaptive', display: 'summarized' } } };
const budget = (tokens: number): JsonObject => ({
  additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: tokens } },
});

describe('reasoning', () => {
  test.each<[string, string, Partial<ChatRequest>, JsonObject]>([
    ['is adaptive', SONNET_55, { reasoning_effort: 'medium' }, { ...adaptive, outputConfig: { effort: 'medium' }, dropped: [] }],
    ['has an extra effort', SONNET_55, { reasoning_effort: 'xhigh' }, { ...adaptive, outputConfig: { effort: 'xhigh' }, dropped: [] }],
    [
      'lacks the extra effort',
      'anthropic.claude-opus-4-6-v1',
      { reasoning_effort: 'xhigh' },
      { ...adaptive, outputConfig: { effort: 'high' }, dropped: [] },
    ],
    ['has an unknown effort', SONNET_55, { reasoning_effort: 'utmost' }, { ...adaptive, outputConfig: { effort: 'high' }, dropped: [] }],
    ['is left to the model', SONNET_55, { reasoning_effort: 'default' }, { dropped: [] }],
    ['is left to a model with a nested field', 'openai.gpt-5.4', { reasoning_effort: 'default' }, { dropped: [] }],
    [
      'cannot be turned off',
      SONNET_55,
      { reasoning_effort: 'none' },
      { ...adaptive, outputConfig: { effort: 'low' }, dropped: ['reasoning_effort'] },
    ],
    [
      'can be turned off',
      'anthropic.claude-opus-5-v1',
      { reasoning_effort: 'none' },
      { additionalModelRequestFields: { thinking: { type: 'disabled' } }, dropped: [] },
    ],
    [
      'excludes temperature',
      'anthropic.claude-sonnet-4-6-v1',
      { reasoning_effort: 'low', temperature: 0.5 },
      { ...adaptive, outputConfig: { effort: 'low' }, dropped: ['temperature'] },
    ],
    ['has a budget', SONNET_45, { reasoning_effort: 'high' }, { ...budget(16_384), inferenceConfig: { maxTokens: 64_000 }, dropped: [] }],
    [
      'has a budget for an unknown effort',
      SONNET_45,
      { reasoning_effort: 'utmost' },
      { ...budget(8192), inferenceConfig: { maxTokens: 64_000 }, dropped: [] },
    ],
    [
      'has a budget within the limit',
      SONNET_45,
      { reasoning_effort: 'high', max_tokens: 4096 },
      { ...budget(2048), inferenceConfig: { maxTokens: 4096 }, dropped: [] },
    ],
    [
      'has no room for a budget',
      SONNET_45,
      { reasoning_effort: 'high', max_tokens: 1500 },
      { inferenceConfig: { maxTokens: 1500 }, dropped: ['reasoning_effort'] },
    ],
    ['is not requested', SONNET_45, { reasoning_effort: 'none' }, { dropped: [] }],
    [
      'has a level',
      'us.amazon.nova-2-lite-v1:0',
      { reasoning_effort: 'minimal' },
      { additionalModelRequestFields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'low' } }, dropped: [] },
    ],
    [
      'has its highest level',
      'us.amazon.nova-2-lite-v1:0',
      { reasoning_effort: 'max', temperature: 0 },
      { additionalModelRequestFields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' } }, dropped: ['temperature'] },
    ],
    [
      'has a level below the highest, which does not allow an output limit',
      'us.amazon.nova-2-lite-v1:0',
      { reasoning_effort: 'high', max_tokens: 9 },
      {
        additionalModelRequestFields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'medium' } },
        inferenceConfig: { maxTokens: 9 },
        dropped: [],
      },
    ],
    [
      'has a level for an unknown effort',
      'us.amazon.nova-2-lite-v1:0',
      { reasoning_effort: 'utmost' },
      { additionalModelRequestFields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'medium' } }, dropped: [] },
    ],
    [
      'is turned off',
      'us.amazon.nova-2-lite-v1:0',
      { reasoning_effort: 'none' },
      { additionalModelRequestFields: { reasoningConfig: { type: 'disabled' } }, dropped: [] },
    ],
    [
      'has a flat field',
      'openai.gpt-oss-120b-1:0',
      { reasoning_effort: 'xhigh' },
      { additionalModelRequestFields: { reasoning_effort: 'high' }, dropped: [] },
    ],
    ['cannot be turned off by a flat field', 'openai.gpt-oss-120b-1:0', { reasoning_effort: 'none' }, { dropped: ['reasoning_effort'] }],
    [
      'has a nested field',
      'openai.gpt-5.4',
      { reasoning_effort: 'high' },
      { additionalModelRequestFields: { reasoning: { effort: 'high' } }, dropped: [] },
    ],
    [
      'has no minimum in a nested field',
      'us.openai.gpt-6-luna',
      { reasoning_effort: 'minimal' },
      { additionalModelRequestFields: { reasoning: { effort: 'low' } }, dropped: [] },
    ],
    [
      'is turned off by a nested field',
      'us.openai.gpt-6-luna',
      { reasoning_effort: 'none' },
      { additionalModelRequestFields: { reasoning: { effort: 'none' } }, dropped: [] },
    ],
    [
      'cannot be turned off by a nested field',
      'us.openai.gpt-6-astra',
      { reasoning_effort: 'none' },
      { additionalModelRequestFields: { reasoning: { effort: 'low' } }, dropped: ['reasoning_effort'] },
    ],
    ['is not supported', NOVA, { reasoning_effort: 'high' }, { dropped: ['reasoning_effort'] }],
  ])('%s: %s with %j', (_, model, chat, expected) => {
    expect(fields(model, chat)).toEqual(expected);
  });

  const loop = [
    ...CHAT.messages,
    { role: 'assistant', content: 'Let me see.', tool_calls: [CALL, { ...CALL, id: 'call_2' }] },
    { role: 'tool', tool_call_id: 'call_1', content: 'blue' },
    { role: 'tool', tool_call_id: 'call_2', content: 'grey' },
  ];
  const thought = { reasoningContent: { reasoningText: { text: 'Hm', signature: 'simulated-signature' } } };
  const hidden = { reasoningContent: { redactedContent: 'aGlkZGVu' } };

  test('that was kept goes before the call it led to, and that of the first call before the text', () => {
    const carried = new Map([
      ['call_1', JSON.stringify({ model: SONNET_45.slice(3), reasoning: [thought, hidden] })],
      ['call_2', JSON.stringify({ model: SONNET_45.slice(3), reasoning: [thought] })],
    ]);
    const { body, dropped } = encode({ messages: loop, tools: [WEATHER], reasoning_effort: 'low' }, { model: SONNET_45, carried });
    expect(dropped).toEqual([]);
    expect((body['messages'] as JsonObject[])[1]?.['content']).toEqual([
      thought,
      hidden,
      { text: 'Let me see.' },
      { toolUse: { toolUseId: 'call_1', name: 'weather', input: { city: 'Bern' } } },
      thought,
      { toolUse: { toolUseId: 'call_2', name: 'weather', input: { city: 'Bern' } } },
    ]);
  });

  test.each([
    ['another model', JSON.stringify({ model: 'anthropic.claude-opus-4-5-v1:0', reasoning: [thought] })],
    ['another provider', JSON.stringify({ model: SONNET_45.slice(3), blocks: [] })],
    ['an unknown source', '"?"'],
  ])('from %s is not sent', (_, kept) => {
    const carried = new Map([['call_1', kept]]);
    const { body, dropped } = encode({ messages: loop, tools: [WEATHER], reasoning_effort: 'low' }, { model: SONNET_45, carried });
    expect(dropped).toEqual(['reasoning_effort']);
    expect(JSON.stringify(body)).not.toContain('reasoningContent');
  });

  test('is not sent to a model that refuses it if anything before it has changed', () => {
    for (const [model, isSent] of [[SONNET_55, false] as const, ['us.anthropic.claude-opus-5-v1:0', true] as const]) {
      const carried = new Map([['call_1', JSON.stringify({ model: model.slice(3), reasoning: [thought] })]]);
      const { body } = encode({ messages: loop, tools: [WEATHER] }, { model, carried });
      expect(JSON.stringify(body).includes('simulated-signature')).toBe(isSent);
    }
  });

  test('with a budget is dropped if its thoughts are lost, because the provider wants them back', () => {
    const { body, dropped } = encode({ messages: loop, tools: [WEATHER], reasoning_effort: 'low' }, { model: SONNET_45 });
    expect(dropped).toEqual(['reasoning_effort']);
    expect(body).not.toHaveProperty('additionalModelRequestFields');
  });

  const again = [
    { role: 'assistant', content: null, tool_calls: [{ ...CALL, id: 'call_3' }] },
    { role: 'tool', tool_call_id: 'call_3', content: 'red' },
  ];
  const user = { role: 'user', content: 'And now?' };
  const answer = { role: 'assistant', content: 'Blue.' };

  test.each<[string, readonly JsonObject[], string, boolean]>([
    ['lost, and a user message next to the results', [...loop, user], '', false],
    ['lost at the first call of the round', [...CHAT.messages, ...again, ...loop.slice(1)], 'call_1', false],
    ['kept at the first call of the round', [...loop, ...again], 'call_1', true],
    ['kept, and instructions after the results', [...loop, { role: 'system', content: 'Be brief.' }], 'call_1', true],
    ['lost in an earlier round', [...CHAT.messages, ...again, answer, user], '', true],
    ['lost in an earlier round, and kept in this one', [...CHAT.messages, ...again, answer, ...loop], 'call_1', true],
  ])('with a budget and thoughts %s', (_, messages, id, isSent) => {
    const carried = new Map([[id, JSON.stringify({ model: SONNET_45.slice(3), reasoning: [thought] })]]);
    const { body, dropped } = encode({ messages, tools: [WEATHER], reasoning_effort: 'low' }, { model: SONNET_45, carried });
    expect(dropped).toEqual(isSent ? [] : ['reasoning_effort']);
    expect(Object.hasOwn(body, 'additionalModelRequestFields')).toBe(isSent);
  });

  test('with a budget rules out a forced tool call', () => {
    const { body, dropped } = encode({ tools: [WEATHER], tool_choice: 'required', reasoning_effort: 'low' }, { model: SONNET_45 });
    expect(dropped).toEqual(['tool_choice']);
    expect(body['toolConfig']).not.toHaveProperty('toolChoice');
  });
});
