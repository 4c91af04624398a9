import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../simulator/wire.ts';
import { OpenAiStage } from './openai-stage.ts';

const MESSAGES = [{ role: 'user', content: 'Hi' }];
const FUNCTION_TOOL = {
  type: 'function',
  function: { name: 'weather', description: 'Tells the weather.', parameters: { type: 'object', properties: {} }, strict: false },
};
const CUSTOM_TOOL = {
  type: 'custom',
  custom: { name: 'patch', format: { type: 'grammar', grammar: { syntax: 'regex', definition: '.*' } } },
};
const TOOL_CALL = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{}' } };
const CUSTOM_CALL = { id: 'call_2', type: 'custom', custom: { name: 'patch', input: '*** Begin' } };

const stage = new OpenAiStage({ key: { rpm: 100_000 } });

/** Sends the fields on top of a minimal request, and checks that the provider received them unchanged. */
async function expectForwarded(fields: JsonObject): Promise<void> {
  const body = { model: 'mock/gpt', messages: MESSAGES, ...fields };
  const response = await fetch(`${stage.gate.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stage.key.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect({ status: response.status, text: await response.text() }).toMatchObject({ status: 200 });
  expect(stage.simulator.requests).toHaveLength(1);
  expect(stage.simulator.requests[0]?.body).toMatchObject({ ...body, model: 'gpt-x' });
}

describe('every field of the dialect is accepted and forwarded', () => {
  test.each<JsonObject>([
    { max_completion_tokens: 100 },
    { max_tokens: 100 },
    { temperature: 0 },
    { temperature: 2 },
    { top_p: 0 },
    { top_p: 1 },
    { n: 2 },
    { stream: false },
    { stop: 'END' },
    { stop: ['a', 'b', 'c', 'd'] },
    { presence_penalty: -2, frequency_penalty: 2 },
    { logit_bias: { '50256': -100, '7': 100 } },
    { logprobs: true, top_logprobs: 20 },
    { logprobs: true, top_logprobs: 0 },
    { seed: 0 },
    { seed: -42 },
    { user: 'someone', safety_identifier: 'hash', prompt_cache_key: 'thread-1' },
    { prompt_cache_options: { mode: 'explicit', ttl: '30m' } },
    { prompt_cache_retention: '24h' },
    { metadata: { team: 'red' }, store: true },
    { service_tier: 'flex' },
    { reasoning_effort: 'xhigh' },
    { verbosity: 'low' },
    { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } },
    { prediction: { type: 'content', content: 'Hi' } },
    { prediction: { type: 'content', content: [{ type: 'text', text: 'Hi' }] } },
    { tools: [FUNCTION_TOOL, CUSTOM_TOOL], tool_choice: 'none', parallel_tool_calls: false },
    { tools: [{ type: 'function', function: { name: 'now' } }], tool_choice: 'none' },
    { response_format: { type: 'text' } },
    { response_format: { type: 'json_object' } },
    { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' }, strict: true } } },
    { moderation: { model: 'omni', policy: { input: { mode: 'score' }, output: { mode: 'block' } } } },
    { functions: [{ name: 'weather', parameters: { type: 'object' } }], function_call: 'auto' },
    { functions: [{ name: 'weather' }], function_call: { name: 'weather' } },
  ])('%o', (fields) => expectForwarded(fields));

  test.each<JsonObject>([
    { tool_choice: 'auto' },
    { tool_choice: 'required' },
    { tool_choice: { type: 'function', function: { name: 'weather' } } },
    { tool_choice: { type: 'custom', custom: { name: 'patch' } } },
    {
      tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'weather' } }] } },
    },
  ])('with tools: %o', (fields) => expectForwarded({ ...fields, tools: [FUNCTION_TOOL, CUSTOM_TOOL] }));

  test('explicit null means absent', async () => {
    const names = `max_completion_tokens max_tokens temperature top_p n stream stream_options stop presence_penalty frequency_penalty
      logit_bias logprobs top_logprobs seed safety_identifier prompt_cache_key prompt_cache_retention metadata store service_tier
      reasoning_effort verbosity modalities audio prediction moderation`.split(/\s+/u);
    const body = { model: 'mock/gpt', messages: MESSAGES, ...Object.fromEntries(names.map((name) => [name, null])) };
    const response = await fetch(`${stage.gate.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stage.key.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect({ status: response.status, text: await response.text() }).toMatchObject({ status: 200 });
  });
});

describe('every kind of message is accepted and forwarded', () => {
  const breakpoint = { prompt_cache_breakpoint: { mode: 'explicit', ttl: '30m' } };

  test.each<[string, readonly JsonObject[]]>([
    [
      'developer and system',
      [{ role: 'developer', content: 'Be brief.' }, { role: 'system', name: 'boss', content: 'Be kind.' }, ...MESSAGES],
    ],
    ['text parts for the system', [{ role: 'system', content: [{ type: 'text', text: 'Be brief.', ...breakpoint }] }, ...MESSAGES]],
    ['an empty text', [{ role: 'user', content: '' }]],
    ['a name', [{ role: 'user', name: 'ann', content: 'Hi' }]],
    [
      'parts of every type',
      [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: 'https://example.com/cat.png', detail: 'original' } },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' }, ...breakpoint },
            { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
            { type: 'file', file: { file_id: 'file-1' } },
            { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
          ],
        },
      ],
    ],
    [
      'parts that other providers support',
      [{ role: 'user', content: [{ type: 'video_url', video_url: { url: 'https://example.com/cat.mp4' } }] }],
    ],
    ['an assistant with a refusal', [...MESSAGES, { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] }, ...MESSAGES]],
    ['an assistant with audio', [...MESSAGES, { role: 'assistant', content: 'Hi', audio: { id: 'audio_1' } }, ...MESSAGES]],
    [
      'tool calls and their results',
      [
        ...MESSAGES,
        { role: 'assistant', content: null, tool_calls: [TOOL_CALL, CUSTOM_CALL] },
        { role: 'tool', tool_call_id: 'call_2', content: 'done' },
        { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: '21' }] },
        ...MESSAGES,
      ],
    ],
    [
      'tool calls without content',
      [...MESSAGES, { role: 'assistant', tool_calls: [TOOL_CALL] }, { role: 'tool', tool_call_id: 'call_1', content: '21' }],
    ],
    [
      'the old function call',
      [
        ...MESSAGES,
        { role: 'assistant', content: null, function_call: { name: 'weather', arguments: '{}' } },
        { role: 'function', name: 'weather', content: null },
      ],
    ],
    ['reasoning of earlier turns', [...MESSAGES, { role: 'assistant', content: 'Hi', reasoning_content: 'Hm.' }, ...MESSAGES]],
  ])('%s', (_, messages) => expectForwarded({ messages }));
});
