import { describe, expect, test } from 'bun:test';
import type { ChatRequest, JsonObject } from '../../../src/openai/types.ts';
import { gemini, geminiVertex } from '../../../src/providers/gemini/gemini.ts';
import type { Target } from '../../../src/providers/dialect.ts';
import { faultOf } from '../fault-of.ts';
import { CHAT, encode, TARGET } from './given.ts';

describe('the request address', () => {
  const baseUrl = 'https://europe-west4-aiplatform.googleapis.com/v1beta1/projects/p/locations/europe-west4/publishers/google';
  const vertex = { ...TARGET, baseUrl, apiKey: 'ya29.token' };

  test('is the model’s, with the key in its own header', () => {
    const { url, headers } = gemini.encodeRequest(CHAT, TARGET);
    expect(url).toBe('https://generativelanguage.googleapis.com/v1beta/models/gemini-3.1-pro-preview:generateContent');
    expect(headers).toEqual({ 'content-type': 'application/json', accept: 'application/json', 'x-goog-api-key': 'AIza-1' });
  });

  test('of a stream requests events', () => {
    const { url, headers } = gemini.encodeRequest({ ...CHAT, stream: true }, { ...TARGET, apiKey: undefined });
    expect(url).toEndWith(':streamGenerateContent?alt=sse');
    expect(headers).toEqual({ 'content-type': 'application/json', accept: 'text/event-stream' });
  });

  test('of a tuned model names its own collection', () => {
    expect(gemini.encodeRequest(CHAT, { ...TARGET, model: 'tunedModels/mine' }).url).toContain('/v1beta/tunedModels/mine:');
  });

  test('on Vertex takes an access token', () => {
    const { url, headers } = geminiVertex.encodeRequest(CHAT, vertex);
    expect(url).toBe(`${baseUrl}/models/gemini-3.1-pro-preview:generateContent`);
    expect(headers['authorization']).toBe('Bearer ya29.token');
    expect(headers).not.toHaveProperty('x-goog-api-key');
  });

  test('on Vertex without a project takes a key', () => {
    const express = { ...vertex, baseUrl: 'https://aiplatform.googleapis.com/v1/publishers/google', apiKey: 'AQ.key' };
    expect(geminiVertex.encodeRequest(CHAT, express).headers).toMatchObject({ 'x-goog-api-key': 'AQ.key' });
  });
});

type Row = [name: string, chat: Partial<ChatRequest>, config: JsonObject | undefined, dropped?: readonly string[], target?: EncodeTarget];
type EncodeTarget = Partial<Target> & { isVertex?: boolean };

describe('the generation config', () => {
  test.each<Row>([
    ['nothing if nothing is requested', {}, undefined],
    ['the output limit', { max_completion_tokens: 5 }, { maxOutputTokens: 5 }],
    ['the output limit under its old name', { max_tokens: 6 }, { maxOutputTokens: 6 }],
    ['the limit set by the gateway', {}, { maxOutputTokens: 7 }, [], { outputTokensMax: 7 }],
    ['sampling, zero included', { temperature: 0, top_p: 0.5, top_k: 40 }, { temperature: 0, topP: 0.5, topK: 40 }],
    ['one stop sequence', { stop: 'END' }, { stopSequences: ['END'] }],
    ['stop sequences without the empty one', { stop: ['a', '', 'b'] }, { stopSequences: ['a', 'b'] }],
    ['no stop sequence', { stop: '' }, undefined],
    ['a seed', { seed: -7 }, { seed: -7 }],
    ['a seed of more than 32 bits', { seed: 2 ** 31 }, undefined, ['seed']],
    ['a seed too long for a number', { seed: { rawJSON: '9223372036854775807' } }, undefined, ['seed']],
    ['several choices', { n: 3 }, { candidateCount: 3 }],
    ['one choice', { n: 1 }, undefined],
    ['penalties dropped for a model without them', { presence_penalty: 1, frequency_penalty: 0 }, undefined, ['presence_penalty']],
    [
      'penalties for an old model',
      { presence_penalty: 1, frequency_penalty: 0.5 },
      { presencePenalty: 1, frequencyPenalty: 0.5 },
      [],
      { model: 'gemini-2.0-flash' },
    ],
    ['penalties on Vertex', { frequency_penalty: 2 }, { frequencyPenalty: 2 }, [], { model: 'gemini-2.5-pro', isVertex: true }],
    [
      'log probabilities with alternatives',
      { logprobs: true, top_logprobs: 3 },
      { responseLogprobs: true, logprobs: 3 },
      [],
      { model: 'gemini-2.0-flash' },
    ],
    [
      'log probabilities alone',
      { logprobs: true, top_logprobs: 0 },
      { responseLogprobs: true },
      [],
      { model: 'gemini-2.5-pro', isVertex: true },
    ],
    [
      'log probabilities dropped where only Vertex supports them',
      { logprobs: true, top_logprobs: 0 },
      undefined,
      ['logprobs', 'top_logprobs'],
      { model: 'gemini-2.5-pro' },
    ],
    ['text as the only modality', { modalities: ['text'] }, undefined],
    [
      'images for a model that makes them',
      { modalities: ['text', 'image'] },
      { responseModalities: ['TEXT', 'IMAGE'] },
      [],
      { model: 'gemini-2.5-flash-image' },
    ],
  ])('has %s', (...[, chat, config, dropped = [], target = {}]) => {
    const encoded = encode(chat, target);
    expect(encoded.body['generationConfig']).toEqual(config);
    expect(encoded.dropped).toEqual(dropped);
  });

  test.each<[string, Partial<ChatRequest>, string]>([
    ['audio', { modalities: ['text', 'audio'], audio: { voice: 'a', format: 'wav' } }, 'modalities'],
    ['images from a model without them', { modalities: ['image'] }, 'modalities'],
  ])('is refused for %s', (_, chat, param) => {
    expect(faultOf(() => encode(chat))).toMatchObject({ status: 400, param });
  });
});

describe('thinking', () => {
  test.each<[model: string, effort: string, config: JsonObject | undefined, dropped?: string[]]>([
    ['gemini-3.1-pro-preview', 'none', { thinkingLevel: 'LOW', includeThoughts: false }],
    ['gemini-3.1-pro-preview', 'minimal', { thinkingLevel: 'LOW', includeThoughts: true }],
    ['gemini-3.1-pro-preview', 'medium', { thinkingLevel: 'MEDIUM', includeThoughts: true }],
    ['gemini-3.1-pro-preview', 'max', { thinkingLevel: 'HIGH', includeThoughts: true }],
    ['gemini-3-flash-preview', 'none', { thinkingLevel: 'MINIMAL', includeThoughts: false }],
    ['gemini-3.5-flash-lite', 'minimal', { thinkingLevel: 'MINIMAL', includeThoughts: true }],
    ['gemini-3.7-flash', 'minimal', { thinkingLevel: 'LOW', includeThoughts: true }],
    ['gemini-4-argon', 'xhigh', { thinkingLevel: 'HIGH', includeThoughts: true }],
    ['gemini-flash-latest', 'low', { thinkingLevel: 'LOW', includeThoughts: true }],
    ['gemini-2.5-pro', 'none', { thinkingBudget: 128, includeThoughts: false }],
    ['gemini-2.5-pro', 'high', { thinkingBudget: 24_576, includeThoughts: true }],
    ['gemini-2.5-pro', 'max', { thinkingBudget: 32_768, includeThoughts: true }],
    ['gemini-2.5-flash', 'none', { thinkingBudget: 0 }],
    ['gemini-2.5-flash', 'low', { thinkingBudget: 1024, includeThoughts: true }],
    ['gemini-2.5-flash', 'max', { thinkingBudget: 24_576, includeThoughts: true }],
    ['gemini-2.5-flash-lite', 'minimal', { thinkingBudget: 512, includeThoughts: true }],
    ['gemini-2.5-flash', 'default', undefined],
    ['gemini-2.0-flash', 'high', undefined, ['reasoning_effort']],
    ['gemini-2.0-flash', 'none', undefined],
    ['gemini-2.5-flash-image', 'low', undefined, ['reasoning_effort']],
    ['gemini-2.5-flash-preview-tts', 'low', undefined, ['reasoning_effort']],
    ['gemini-3-pro-image', 'low', undefined, ['reasoning_effort']],
    ['gemma-3-27b-it', 'low', undefined, ['reasoning_effort']],
    ['tunedModels/mine', 'low', undefined, ['reasoning_effort']],
  ])('of %s with effort %s', (model, effort, thinkingConfig, dropped = []) => {
    const encoded = encode({ reasoning_effort: effort }, { model });
    expect(encoded.body['generationConfig']).toEqual(thinkingConfig === undefined ? undefined : { thinkingConfig });
    expect(encoded.dropped).toEqual(dropped);
  });
});

describe('the response format', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } };
  const json = { type: 'json_schema', json_schema: { name: 'x', schema } };
  const tools = [{ type: 'function', function: { name: 'f' } }];
  const fields = { responseMimeType: 'application/json', responseJsonSchema: schema };

  test.each<[string, Partial<ChatRequest>, JsonObject | undefined]>([
    ['text', { response_format: { type: 'text' } }, undefined],
    ['any JSON', { response_format: { type: 'json_object' } }, { responseMimeType: 'application/json' }],
    ['a schema', { response_format: json }, fields],
    [
      'a missing schema',
      { response_format: { type: 'json_schema', json_schema: { name: 'x' } } },
      { responseMimeType: 'application/json' },
    ],
    ['a schema with functions on a new model', { response_format: json, tools }, fields],
  ])('of %s', (_, chat, config) => {
    expect(encode(chat)).toMatchObject({ dropped: [] });
    expect(encode(chat).body['generationConfig']).toEqual(config);
  });

  test('reports lost constraints', () => {
    const strict = { type: 'object', properties: { a: { type: 'string', pattern: 'x', minLength: 1 } } };
    const { dropped } = encode({ response_format: { type: 'json_schema', json_schema: { name: 'x', schema: strict } } });
    expect(dropped).toEqual(['response_format.json_schema.schema.pattern', 'response_format.json_schema.schema.minLength']);
  });

  test('with functions is described in the prompt for models that do not support both', () => {
    const { body, dropped } = encode({ response_format: json, tools }, { model: 'gemini-2.5-pro' });
    expect(body['generationConfig']).toBeUndefined();
    expect(JSON.stringify(body['systemInstruction'])).toContain('must follow this JSON schema');
    expect(dropped).toEqual(['response_format']);
    const plain = encode({ response_format: { type: 'json_object' }, tools }, { model: 'gemini-2.5-pro' });
    expect(plain.body['systemInstruction']).toEqual({
      parts: [{ text: 'Write your final answer as one JSON object, with no text before or after it.' }],
    });
  });

  test('takes precedence over functions that must not be called', () => {
    const { body, dropped } = encode({ response_format: json, tools, tool_choice: 'none' }, { model: 'gemini-2.5-pro' });
    expect(body).toEqual({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], generationConfig: fields });
    expect(dropped).toEqual([]);
  });

  test.each(['gemini-2.5-pro', 'gemini-3.1-pro-preview'])('is dropped if %s must call a function', (model) => {
    const { body, dropped } = encode({ response_format: json, tools, tool_choice: 'required' }, { model });
    expect(body['generationConfig']).toBeUndefined();
    expect(body['systemInstruction']).toBeUndefined();
    expect(dropped).toEqual(['response_format']);
  });
});

describe('other request fields', () => {
  test.each<[string, Partial<ChatRequest>, JsonObject, readonly string[], EncodeTarget?]>([
    ['a tier', { service_tier: 'flex' }, { serviceTier: 'flex' }, []],
    ['a tier that costs more', { service_tier: 'fast' }, {}, ['service_tier']],
    ['the default tier', { service_tier: 'default' }, {}, []],
    ['the automatic tier', { service_tier: 'auto' }, {}, []],
    ['an unsupported tier', { service_tier: 'scale' }, {}, ['service_tier']],
    ['a tier on Vertex', { service_tier: 'flex' }, {}, ['service_tier'], { isVertex: true }],
    [
      'safety settings',
      { safety_settings: [{ category: 'A', threshold: 'OFF' }] },
      { safetySettings: [{ category: 'A', threshold: 'OFF' }] },
      [],
    ],
    ['a continuation', {}, { continuationToken: 'dG9r' }, [], { continuation: '{"token":"dG9r","toolCalls":1}' }],
    [
      'unsupported fields',
      {
        user: 'u',
        metadata: { a: 'b' },
        store: true,
        logit_bias: {},
        verbosity: 'low',
        logprobs: true,
        parallel_tool_calls: false,
        odd: 1,
      },
      {},
      ['logprobs', 'user', 'metadata', 'store', 'logit_bias', 'verbosity', 'parallel_tool_calls', 'odd'],
    ],
    ['default values', { store: false, parallel_tool_calls: true, logprobs: false, odd: null }, {}, []],
    [
      'a lost image detail',
      {
        messages: [
          { role: 'user', content: 'Hi' },
          { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } }] },
        ],
      },
      { contents: [{ role: 'user', parts: [{ text: 'Hi' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }] }] },
      ['messages[].content[].image_url.detail'],
    ],
    [
      'a lost audio answer',
      {
        messages: [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', audio: { id: 'audio_1' } },
        ],
      },
      {},
      ['messages[].audio'],
    ],
    ['a lost speaker name', { messages: [{ role: 'user', content: 'Hi', name: 'Ann' }] }, {}, ['messages[].name']],
  ])('include %s', (...[, chat, fields, dropped, target]) => {
    const encoded = encode(chat, target);
    expect(encoded.body).toEqual({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], ...fields });
    expect(encoded.dropped).toEqual(dropped);
  });

  test('reject a continuation of another dialect', () => {
    expect(() => encode({}, { continuation: '7' })).toThrow('another dialect');
  });

  test('leave the caller’s request unmodified', () => {
    const chat = { ...CHAT, n: 2, response_format: { type: 'json_object' }, tools: [{ type: 'function', function: { name: 'f' } }] };
    const before = structuredClone(chat);
    gemini.encodeRequest(chat, TARGET);
    expect(chat).toEqual(before);
  });
});
