import { describe, expect, test } from 'bun:test';
import type { ChatRequest, JsonObject } from '../../../src/openai/types.ts';
import { anthropic, anthropicVertex } from '../../../src/providers/anthropic/anthropic.ts';
import type { Target } from '../../../src/providers/dialect.ts';
import { faultOf } from '../fault-of.ts';
import { bodyOf, CHAT, encode, LOOP, TARGET, WEATHER } from './encoding.ts';

describe('an encoded request', () => {
  test('goes to the Messages API with its key and version', () => {
    const request = encode({});
    expect(request.url).toBe('https://api.anthropic.com/v1/messages');
    expect(request.headers).toEqual({
      'content-type': 'application/json',
      accept: 'application/json',
      'anthropic-version': '2026-10-21',
      'x-api-key': 'sk-1',
    });
    expect(bodyOf(request)).toEqual({
      model: 'claude-opus-5',
      max_tokens: 128_000,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    });
    expect(request).not.toHaveProperty('dropped');
  });

  test('has no credentials if none are configured', () => {
    expect(encode({}, 'claude-opus-5', { apiKey: undefined }).headers).not.toHaveProperty('x-api-key');
    const vertex = anthropicVertex.encodeRequest(CHAT, { ...TARGET, apiKey: undefined });
    expect(vertex.headers).not.toHaveProperty('authorization');
  });

  test('requests a stream if the caller does', () => {
    const request = encode({ stream: true, stream_options: { include_usage: true } });
    expect(request.headers['accept']).toBe('text/event-stream');
    expect(bodyOf(request)['stream']).toBe(true);
    expect(request).not.toHaveProperty('dropped');
  });

  test('uses the older version for models with sampling, which the newer one refuses', () => {
    expect(encode({}, 'claude-sonnet-4-6').headers['anthropic-version']).toBe('2023-06-01');
    expect(encode({}, 'claude-sonnet-5').headers['anthropic-version']).toBe('2026-10-21');
  });

  test('leaves the caller’s request unmodified', () => {
    const text = { type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } };
    const chat = {
      ...CHAT,
      messages: [...Array.from({ length: 6 }, () => ({ role: 'user', content: [text] })), ...LOOP],
      tools: [WEATHER],
    };
    const before = structuredClone(chat);
    anthropic.encodeRequest(chat, TARGET);
    expect(chat).toEqual(before);
  });
});

describe('Claude on Vertex', () => {
  const target = {
    ...TARGET,
    baseUrl: 'https://aiplatform.googleapis.com/v1/projects/p/locations/global',
    model: 'claude-opus-4-5@20251101',
  };

  test.each([
    [false, 'rawPredict'],
    [true, 'streamRawPredict'],
  ])('has the model in the address and the version in the body: stream %p', (stream, verb) => {
    const request = anthropicVertex.encodeRequest({ ...CHAT, stream, service_tier: 'priority' }, target);
    expect(request.url).toBe(`${target.baseUrl}/publishers/anthropic/models/claude-opus-4-5@20251101:${verb}`);
    expect(request.headers).toMatchObject({ authorization: 'Bearer sk-1' });
    expect(request.headers).not.toHaveProperty('anthropic-version');
    expect(bodyOf(request)).toMatchObject({ anthropic_version: 'vertex-2023-10-16', max_tokens: 64_000 });
    expect(bodyOf(request)).not.toHaveProperty('model');
    expect(request.dropped).toEqual(['service_tier']);
  });

  test('needs inline media', () => {
    expect(anthropicVertex.needsInlineMedia).toBe(true);
    const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a.example/b.png' } }] }];
    expect(faultOf(() => anthropicVertex.encodeRequest({ ...CHAT, messages }, target))).toMatchObject({
      status: 400,
      param: 'messages[0].content[0]',
    });
  });
});

describe('the output limit', () => {
  test.each<[string, Partial<ChatRequest>, Partial<Target>, number]>([
    ['claude-opus-5', {}, {}, 128_000],
    ['claude-sonnet-4-5', {}, {}, 64_000],
    ['claude-opus-4-1', {}, {}, 32_000],
    ['claude-3-haiku-20240307', {}, {}, 4096],
    ['claude-of-tomorrow', {}, {}, 128_000],
    ['claude-opus-5', { max_completion_tokens: 7 }, {}, 7],
    ['claude-opus-5', { max_tokens: 8 }, {}, 8],
    ['claude-opus-5', {}, { outputTokensMax: 9 }, 9],
    ['claude-sonnet-4-5', { max_tokens: 100_000 }, {}, 64_000],
  ])('of %s with %j and %j is %p', (model, chat, target, limit) => {
    expect(bodyOf(encode(chat, model, target))['max_tokens']).toBe(limit);
  });
});

describe('a parameter', () => {
  test.each<[string, string, Partial<ChatRequest>, JsonObject, string[]]>([
    ['temperature', 'claude-sonnet-4-6', { temperature: 0 }, { temperature: 0 }, []],
    ['a temperature above the maximum', 'claude-sonnet-4-6', { temperature: 1.7 }, { temperature: 1 }, []],
    [
      'temperature and top_p together',
      'claude-sonnet-4-5',
      { temperature: 0.5, top_p: 0.9, top_k: 5 },
      { temperature: 0.5, top_k: 5 },
      ['top_p'],
    ],
    ['top_p with the default temperature', 'claude-sonnet-4-5', { temperature: 1, top_p: 0.9 }, { top_p: 0.9 }, []],
    ['sampling on a model without it', 'claude-opus-5', { temperature: 0.2, top_p: 0.9, top_k: 3 }, {}, ['temperature', 'top_p', 'top_k']],
    ['default sampling on a model without it', 'claude-opus-5', { temperature: 1, top_p: 1 }, {}, []],
    ['one stop sequence', 'claude-opus-5', { stop: 'END' }, { stop_sequences: ['END'] }, []],
    ['blank stop sequences', 'claude-opus-5', { stop: ['\n', 'a', ''] }, { stop_sequences: ['a'] }, ['stop']],
    ['a user', 'claude-opus-5', { user: 'u1' }, { metadata: { user_id: 'u1' } }, []],
    ['a user named by an e-mail address', 'claude-opus-5', { user: 'ann@example.com' }, {}, ['user']],
    ['a user named by a phone number', 'claude-opus-5', { safety_identifier: '+41 44 555 01 02' }, {}, ['safety_identifier']],
    ['a user named by a number', 'claude-opus-5', { user: '4155550102' }, { metadata: { user_id: '4155550102' } }, []],
    ['a safety identifier', 'claude-opus-5', { user: 'u1', safety_identifier: 's1' }, { metadata: { user_id: 's1' } }, []],
    ['an empty user', 'claude-opus-5', { user: '' }, {}, []],
    ['a user that is too long', 'claude-opus-5', { user: 'u'.repeat(257) }, {}, ['user']],
    ['the automatic tier', 'claude-opus-5', { service_tier: 'auto' }, { service_tier: 'auto' }, []],
    ['the default tier', 'claude-opus-5', { service_tier: 'default' }, { service_tier: 'standard_only' }, []],
    ['a tier that costs more', 'claude-opus-5', { service_tier: 'priority' }, {}, ['service_tier']],
    ['text as the only modality', 'claude-opus-5', { modalities: ['text'] }, {}, []],
    [
      'what the provider does not support',
      'claude-opus-5',
      { seed: 1, logit_bias: {}, logprobs: true, metadata: {}, made_up: 1 },
      {},
      ['seed', 'logit_bias', 'logprobs', 'metadata', 'made_up'],
    ],
    [
      'default values',
      'claude-opus-5',
      { presence_penalty: 0, frequency_penalty: 0, logprobs: false, store: false, verbosity: 'medium', n: 1 },
      {},
      [],
    ],
  ])('%s', (_, model, chat, ...[fields, dropped]) => {
    const request = encode(chat, model);
    const { model: _model, max_tokens: _limit, messages: _messages, ...rest } = bodyOf(request);
    expect(rest).toEqual(fields);
    expect(request.dropped ?? []).toEqual(dropped);
  });

  test('that asks for audio or several choices is refused', () => {
    expect(faultOf(() => encode({ modalities: ['text', 'audio'] }))).toMatchObject({ status: 400, param: 'modalities' });
    expect(faultOf(() => encode({ n: 2 }))).toMatchObject({ status: 400, param: 'n' });
  });
});

describe('reasoning_effort', () => {
  const adaptive = { type: 'adaptive', display: 'summarized' };
  const low = { thinking: adaptive, output_config: { effort: 'low' } };
  test.each<[string, string, JsonObject, string[]]>([
    ['claude-opus-5', 'minimal', low, []],
    ['claude-opus-5', 'low', low, []],
    ['claude-opus-5', 'xhigh', { thinking: adaptive, output_config: { effort: 'xhigh' } }, []],
    ['claude-opus-5', 'none', { thinking: { type: 'disabled' } }, []],
    ['claude-opus-5', 'default', {}, []],
    ['claude-opus-5', 'of a new kind', { thinking: adaptive, output_config: { effort: 'medium' } }, []],
    ['claude-sonnet-5-5', 'none', { thinking: { type: 'between_tools' } }, []],
    ['claude-opus-5-5', 'none', low, ['reasoning_effort']],
    ['claude-opus-4-8', 'none', {}, []],
    ['claude-sonnet-4-6', 'xhigh', { thinking: adaptive, output_config: { effort: 'high' } }, []],
    ['claude-sonnet-4-6', 'max', { thinking: adaptive, output_config: { effort: 'max' } }, []],
    ['claude-sonnet-4-5', 'high', { thinking: { type: 'enabled', budget_tokens: 51_200 } }, []],
    ['claude-opus-4-5', 'max', { thinking: { type: 'enabled', budget_tokens: 60_800 }, output_config: { effort: 'high' } }, []],
    ['claude-3-haiku-20240307', 'high', {}, ['reasoning_effort']],
  ])('of %s with value %s', (model, reasoning_effort, fields, dropped) => {
    const request = encode({ reasoning_effort }, model);
    const { thinking, output_config } = bodyOf(request);
    expect({ ...(thinking === undefined ? {} : { thinking }), ...(output_config === undefined ? {} : { output_config }) }).toEqual(
      fields as never,
    );
    expect(request.dropped ?? []).toEqual(dropped);
  });

  test.each<[string, Partial<ChatRequest>, unknown]>([
    ['is raised to the minimum', { max_tokens: 2000, reasoning_effort: 'low' }, { type: 'enabled', budget_tokens: 1024 }],
    ['is dropped if the output limit leaves no room', { max_tokens: 1024 }, undefined],
    ['is dropped if a tool is forced', { tools: [WEATHER], tool_choice: 'required' }, undefined],
    ['is dropped if the thinking of this round is lost', { tools: [WEATHER], messages: LOOP }, undefined],
    [
      'is dropped if this round used a legacy call',
      {
        messages: [
          { role: 'user', content: 'a' },
          { role: 'assistant', function_call: { name: 'weather' } },
          { role: 'function', name: 'weather', content: 'b' },
        ],
      },
      undefined,
    ],
    [
      'stays if the earlier round is over',
      { tools: [WEATHER], messages: [...LOOP, { role: 'assistant', content: 'Sun.' }, { role: 'user', content: 'Thanks' }] },
      { type: 'enabled', budget_tokens: 32_000 },
    ],
  ])('as a budget %s', (_, chat, thinking) => {
    const request = encode({ reasoning_effort: 'medium', ...chat }, 'claude-sonnet-4-5');
    expect(bodyOf(request)['thinking']).toEqual(thinking);
    expect(request.dropped ?? []).toEqual(thinking === undefined ? ['reasoning_effort'] : []);
  });

  test('drops the sampling that a thinking model refuses', () => {
    const request = encode({ reasoning_effort: 'low', temperature: 0.2 }, 'claude-sonnet-4-6');
    expect(bodyOf(request)).not.toHaveProperty('temperature');
    expect(request.dropped).toEqual(['temperature']);
  });
});
