import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../src/openai/types.ts';
import { openai, readFault } from '../../src/providers/openai.ts';
import { ProviderFault } from '../../src/providers/provider.ts';
import { faultOf } from './fault-of.ts';
import { CONTEXT, ENVELOPE } from './relayed.ts';

describe('the error of a provider', () => {
  test.each<[string, string, Partial<ProviderFault>]>([
    ['a number for a code', '{"error":{"code":502,"message":"Down"}}', { message: 'Down', status: 502 }],
    ['a code that is no status', '{"error":{"code":"busy","message":"Down"}}', { message: 'Down', status: undefined, code: 'busy' }],
    ['an HTML page', '<html></html>', { message: 'The provider sent no stream', status: undefined }],
    [
      'a status beside a code, as Groq has it',
      '{"error":{"message":"Failed","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"x","status_code":400}}',
      { message: 'Failed', status: 400, code: 'tool_use_failed' },
    ],
    ['a number for a status', '{"error":{"message":"Busy","status":503}}', { status: 503 }],
    ['a code before a status', '{"error":{"message":"Busy","code":429,"status":500}}', { status: 429 }],
    ['a status in a word', '{"error":{"message":"Bad","status":"INVALID_ARGUMENT"}}', { status: undefined }],
    ['a status that cannot be read', '{"error":{"message":"Bad","status":{"valueOf":1,"toString":1}}}', { status: undefined }],
  ])('inside a 200 has the status that it tells itself: %s', (_, text, fault) => {
    expect(readFault(text, undefined)).toMatchObject(fault);
  });

  test.each<[number | undefined, JsonObject]>([
    [400, { message: 'Bad', type: 'invalid_request_error', code: 'tool_use_failed' }],
    [400, { message: 'Bad', type: 'BadRequestError', code: null }],
    [400, { message: 'Too much', code: 'context_length_exceeded' }],
    [400, { message: "This model's maximum context length is 8 tokens." }],
    [401, { message: 'Incorrect key', type: 'invalid_request_error', code: 'invalid_api_key' }],
    [404, { message: 'No such model', type: 'invalid_request_error', code: 'model_not_found' }],
    [429, { message: 'Slow down', type: 'tokens', code: 'rate_limit_exceeded' }],
    [429, { message: 'Slow down', type: 'rate_limit_error', code: null }],
    [429, { message: 'Slow down', type: 'rate_limit_exceeded' }],
    [429, { message: 'No credit', type: 'insufficient_quota', code: 'insufficient_quota' }],
    [undefined, { message: 'Odd', type: 'constructor', code: '__proto__' }],
  ])('inside a 200 without a status has %p, by its words: %j', (status, error) => {
    const data = JSON.stringify({ error });
    expect(readFault(data, undefined).status).toBe(status);
    expect(faultOf(() => openai.decodeReply(data, CONTEXT)).status).toBe(status);
    expect(faultOf(() => openai.decodeStream(CONTEXT).push({ name: undefined, data })).status).toBe(status);
    expect(faultOf(() => openai.decodeStream(CONTEXT).push({ name: 'error', data })).status).toBe(status);
    expect(readFault(data, 503).status).toBe(503);
  });

  test.each<[string, unknown, Partial<ProviderFault>]>([
    [
      'wrapped, as OpenAI has it',
      { error: { message: 'Bad top_p', type: 'invalid_request_error', param: 'top_p', code: 'invalid_value' } },
      { message: 'Bad top_p', code: 'invalid_value', param: 'top_p' },
    ],
    [
      'wrapped with nulls',
      { error: { message: 'Bad', type: 'x', param: null, code: null } },
      { message: 'Bad', code: undefined, param: undefined },
    ],
    [
      'bare, as Mistral has it',
      { object: 'error', message: 'Invalid model: a', type: 'invalid_model', param: null, code: '1500' },
      { message: 'Invalid model: a', code: '1500', param: undefined },
    ],
    [
      'a text, as xAI has it',
      { code: 'Client specified an invalid argument', error: 'Unknown model' },
      { message: 'Unknown model', code: 'Client specified an invalid argument' },
    ],
    [
      'with a number for a code, as OpenRouter has it',
      { error: { code: 402, message: 'No credits', metadata: { provider_name: 'a' } }, user_id: 'u' },
      { message: 'No credits', code: undefined },
    ],
    ['with a number in a text for a code', { error: { code: '402', message: 'No credits' } }, { message: 'No credits', code: undefined }],
    [
      'about a conversation that is too long, as llama.cpp has it',
      {
        error: {
          code: 400,
          message: 'request (9 tokens) exceeds the available context size (8 tokens)',
          type: 'exceed_context_size_error',
        },
      },
      { code: 'context_length_exceeded' },
    ],
    [
      'about a conversation that is too long, as xAI has it',
      { code: 'Client specified an invalid argument', error: "This model's maximum prompt length is 8 but the request contains 9 tokens." },
      { code: 'context_length_exceeded' },
    ],
    [
      'about a conversation that is too long, as vLLM has it',
      { object: 'error', message: "This model's maximum context length is 8 tokens.", type: 'BadRequestError', code: 400 },
      { code: 'context_length_exceeded' },
    ],
    [
      'in a list, as Google has it',
      [{ error: { code: 400, message: 'Invalid argument', status: 'INVALID_ARGUMENT' } }],
      { message: 'Invalid argument', code: undefined },
    ],
    ['with a message that is no text', { error: { message: { detail: 'a' } } }, { message: 'The provider reported an error' }],
    ['with an empty message', { error: { message: '' } }, { message: 'The provider reported an error' }],
    ['without a message', { error: {} }, { message: 'The provider reported an error' }],
    ['that is null', { error: null, message: 'Down' }, { message: 'Down' }],
    ['without anything', {}, { message: 'The provider reported an error' }],
  ])('%s', (_, body, fault) => {
    const read = readFault(JSON.stringify(body), 418);
    expect(read).toBeInstanceOf(ProviderFault);
    expect(read).toMatchObject({ ...fault, status: 418 });
  });

  test.each([
    ['an HTML page', '<html><head><title>502</title></head></html>'],
    ['nothing', ''],
    ['half of a JSON', '{"error": {"mess'],
    ['a text', '"Down"'],
    ['a number', '502'],
    ['null', 'null'],
    ['an empty list', '[]'],
    ['a list of texts', '["Down"]'],
  ])('that is %s has its status and none of its text', (_, text) => {
    expect(readFault(text, 502)).toMatchObject({ message: 'The provider answered with status 502', status: 502, code: undefined });
  });
});

describe('an error that is empty', () => {
  test.each<[unknown]>([[null], [''], [false], [0], [{}], [[]]])('is none, and not told: %j', (error) => {
    const choice = { index: 0, finish_reason: 'stop' };
    const whole = JSON.stringify({ choices: [{ ...choice, message: { content: 'a' } }], error });
    const { body } = openai.decodeReply(whole, CONTEXT);
    expect(body).toMatchObject({ choices: [{ message: { content: 'a' } }] });
    expect(body).not.toHaveProperty('error');
    const data = JSON.stringify({ ...ENVELOPE, choices: [{ ...choice, delta: { content: 'a' } }], error, x_groq: { error } });
    const [sent = ''] = openai.decodeStream(CONTEXT).push({ name: undefined, data });
    expect(JSON.parse(sent)).toMatchObject({ choices: [{ delta: { content: 'a' } }] });
    expect(JSON.parse(sent)).not.toHaveProperty('error');
  });

  test('does not hide another', () => {
    const data = JSON.stringify({ ...ENVELOPE, choices: [], error: {}, x_groq: { error: 'Over capacity' } });
    expect(faultOf(() => openai.decodeStream(CONTEXT).push({ name: undefined, data })).message).toBe('Over capacity');
  });
});
