import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../src/openai/types.ts';
import { openai } from '../../src/providers/openai.ts';
import { readFault } from '../../src/providers/read-fault.ts';
import { ProviderFault } from '../../src/providers/dialect.ts';
import { faultOf } from './fault-of.ts';
import { CONTEXT, ENVELOPE } from './relayed.ts';

describe('a provider’s error', () => {
  test.each<[string, string, Partial<ProviderFault>]>([
    ['a number as the code', '{"error":{"code":502,"message":"Down"}}', { message: 'Down', status: 502 }],
    ['a code that is not a status', '{"error":{"code":"busy","message":"Down"}}', { message: 'Down', status: undefined, code: 'busy' }],
    ['an HTML page', '<html></html>', { message: 'The provider sent no stream', status: undefined }],
    [
      'a status next to a code, as Groq sends it',
      '{"error":{"message":"Failed","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"x","status_code":400}}',
      { message: 'Failed', status: 400, code: 'tool_use_failed' },
    ],
    ['a number as the status', '{"error":{"message":"Busy","status":503}}', { status: 503 }],
    ['a code takes precedence over a status', '{"error":{"message":"Busy","code":429,"status":500}}', { status: 429 }],
    ['a status as a word', '{"error":{"message":"Bad","status":"INVALID_ARGUMENT"}}', { status: undefined }],
    ['an unreadable status', '{"error":{"message":"Bad","status":{"valueOf":1,"toString":1}}}', { status: undefined }],
  ])('inside a 200 has the status it states: %s', (_, text, fault) => {
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
  ])('inside a 200 without a status has %p, derived from its text: %j', (status, error) => {
    const data = JSON.stringify({ error });
    expect(readFault(data, undefined).status).toBe(status);
    expect(faultOf(() => openai.decodeReply(data, CONTEXT)).status).toBe(status);
    expect(faultOf(() => openai.decodeStream(CONTEXT).push({ name: undefined, data })).status).toBe(status);
    expect(faultOf(() => openai.decodeStream(CONTEXT).push({ name: 'error', data })).status).toBe(status);
    expect(readFault(data, 503).status).toBe(503);
  });

  test.each<[string, unknown, Partial<ProviderFault>]>([
    [
      'wrapped, as OpenAI sends it',
      { error: { message: 'Bad top_p', type: 'invalid_request_error', param: 'top_p', code: 'invalid_value' } },
      { message: 'Bad top_p', code: 'invalid_value', param: 'top_p' },
    ],
    [
      'with an unpaid bill as its type alone',
      { error: { message: 'No credit', type: 'insufficient_quota', param: null, code: null } },
      { message: 'No credit', code: 'insufficient_quota' },
    ],
    [
      'wrapped with nulls',
      { error: { message: 'Bad', type: 'x', param: null, code: null } },
      { message: 'Bad', code: undefined, param: undefined },
    ],
    [
      'bare, as Mistral sends it',
      { object: 'error', message: 'Invalid model: a', type: 'invalid_model', param: null, code: '1500' },
      { message: 'Invalid model: a', code: '1500', param: undefined },
    ],
    [
      'as text, as xAI sends it',
      { code: 'Client specified an invalid argument', error: 'Unknown model' },
      { message: 'Unknown model', code: 'Client specified an invalid argument' },
    ],
    [
      'with a number as the code, as OpenRouter sends it',
      { error: { code: 402, message: 'No credits', metadata: { provider_name: 'a' } }, user_id: 'u' },
      { message: 'No credits', code: undefined },
    ],
    ['with a number in text as the code', { error: { code: '402', message: 'No credits' } }, { message: 'No credits', code: undefined }],
    [
      'about an over-long conversation, as llama.cpp sends it',
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
      'about an over-long conversation, as xAI sends it',
      { code: 'Client specified an invalid argument', error: "This model's maximum prompt length is 8 but the request contains 9 tokens." },
      { code: 'context_length_exceeded' },
    ],
    [
      'about an over-long conversation, as vLLM sends it',
      { object: 'error', message: "This model's maximum context length is 8 tokens.", type: 'BadRequestError', code: 400 },
      { code: 'context_length_exceeded' },
    ],
    [
      'in a list, as Google sends it',
      [{ error: { code: 400, message: 'Invalid argument', status: 'INVALID_ARGUMENT' } }],
      { message: 'Invalid argument', code: undefined },
    ],
    [
      'as a list of complaints, as hosts built on FastAPI send it',
      { detail: [{ type: 'extra_forbidden', loc: ['body', 'messages', 0, 'user', 'name'], msg: 'Extra inputs are not permitted' }] },
      { message: 'messages.0.user.name: Extra inputs are not permitted' },
    ],
    [
      'as a list of complaints inside the message, as Mistral sends it',
      {
        object: 'error',
        message: { detail: [{ loc: ['body', 'store'], msg: 'Extra inputs are not permitted' }] },
        param: null,
        code: null,
      },
      { message: 'store: Extra inputs are not permitted' },
    ],
    ['as a list of complaints instead of the message', { message: [{ loc: [], msg: 'Bad' }], code: 3001 }, { message: 'Bad' }],
    ['with a message that is not text', { error: { message: { detail: 'a' } } }, { message: 'The provider reported an error' }],
    ['with an empty message', { error: { message: '' } }, { message: 'The provider reported an error' }],
    ['without a message', { error: {} }, { message: 'The provider reported an error' }],
    ['that is null', { error: null, message: 'Down' }, { message: 'Down' }],
    ['that is an empty object', {}, { message: 'The provider reported an error' }],
  ])('%s', (_, body, fault) => {
    const read = readFault(JSON.stringify(body), 418);
    expect(read).toBeInstanceOf(ProviderFault);
    expect(read).toMatchObject({ ...fault, status: 418 });
  });

  test.each([
    { code: 'Client specified an invalid argument', error: 'Incorrect API key provided: xa***ey. You can obtain an API key.' },
    { error: { message: 'Wrong', code: 'invalid_api_key' } },
  ])('about our key is not an error of the request, although xAI says so: %j', (body) => {
    expect(readFault(JSON.stringify(body), 400).status).toBe(401);
  });

  test.each([
    [
      'as xAI sends it, without the team and key of the operator',
      {
        code: 'The caller does not have permission to execute the specified operation',
        error: 'Content violates usage guidelines. Team: 0a1b, API key ID: 2c3d, Model: grok, Failed check: SAFETY_CHECK_TYPE_BIO',
      },
      'Content violates usage guidelines.',
    ],
    [
      'as OpenRouter sends it',
      {
        error: {
          code: 403,
          message: 'That model requires moderation. Your input was flagged for "x".',
          metadata: { reasons: ['x'], flagged_input: 'y' },
        },
      },
      'That model requires moderation. Your input was flagged for "x".',
    ],
    ['in other words', { error: { code: 403, message: 'No', metadata: { flagged_input: 'y' } } }, 'No'],
  ])('about a flagged prompt is an error of the request: %s', (_, body, message) => {
    expect(readFault(JSON.stringify(body), 403)).toMatchObject({
      message,
      status: 400,
      code: 'content_policy_violation',
      param: 'messages',
    });
  });

  test('about a missing permission of ours is not', () => {
    expect(readFault('{"error":{"message":"Your team has no access to this model"}}', 403).status).toBe(403);
  });

  test('about a feature that no host behind OpenRouter has is an error of the request, which another provider may take', () => {
    const error = { code: 404, message: 'No endpoints found that support image input' };
    expect(readFault(JSON.stringify({ error }), 404)).toMatchObject({ status: 400, code: 'unsupported_value', isUnsent: true });
    expect(readFault('{"error":{"message":"No endpoints found for a/b.","code":404}}', 404)).toMatchObject({
      status: 404,
      isUnsent: false,
    });
  });

  test('about one request above our limit at OpenAI is not a limit that passes', () => {
    const error = {
      message: 'Request too large for gpt-x in organization org-1: Limit 3, Requested 4.',
      type: 'tokens',
      code: 'rate_limit_exceeded',
    };
    expect(readFault(JSON.stringify({ error }), 429)).toMatchObject({ status: 413, code: 'rate_limit_exceeded' });
    expect(
      readFault(JSON.stringify({ error: { ...error, message: 'Rate limit reached. Limit 3, Used 2, Requested 2.' } }), 429).status,
    ).toBe(429);
  });

  test.each([
    ['an HTML page', '<html><head><title>502</title></head></html>'],
    ['nothing', ''],
    ['truncated JSON', '{"error": {"mess'],
    ['a string', '"Down"'],
    ['a number', '502'],
    ['null', 'null'],
    ['an empty list', '[]'],
    ['a list of strings', '["Down"]'],
  ])('that is %s keeps its status and none of its text', (_, text) => {
    expect(readFault(text, 502)).toMatchObject({ message: 'The provider answered with status 502', status: 502, code: undefined });
  });
});

describe('an empty error', () => {
  test.each<[unknown]>([[null], [''], [false], [0], [{}], [[]]])('is not an error and is removed: %j', (error) => {
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

  test('does not hide another error', () => {
    const data = JSON.stringify({ ...ENVELOPE, choices: [], error: {}, x_groq: { error: 'Over capacity' } });
    expect(faultOf(() => openai.decodeStream(CONTEXT).push({ name: undefined, data })).message).toBe('Over capacity');
  });
});
