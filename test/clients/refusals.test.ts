import { describe, expect, test } from 'bun:test';
import { Buffer } from 'node:buffer';
import type { JsonObject } from '../simulator/wire.ts';
import { OpenAiStage } from './openai-stage.ts';

const MESSAGES = [{ role: 'user', content: 'Hi' }];
const CHAT = { model: 'mock/gpt', messages: MESSAGES };

const stage = new OpenAiStage();

interface Refusal {
  readonly status: number;
  readonly headers: Headers;
  readonly error: JsonObject;
}

/** Sends a request and checks the properties common to all refusals. */
async function refusal(path: string, init: RequestInit = {}): Promise<Refusal> {
  const headers = { authorization: `Bearer ${stage.key.secret}`, ...(init.headers as Record<string, string>) };
  const response = await fetch(`${stage.gate.baseUrl}${path}`, { ...init, headers });
  const text = await response.text();
  expect(response.headers.get('x-request-id')).toMatch(/^\S+$/u);
  expect(response.headers.get('content-type')).toMatch(/^application\/json\b/u);
  const body = JSON.parse(text) as { error: JsonObject };
  expect(Object.keys(body)).toEqual(['error']);
  expect(Object.keys(body.error).toSorted()).toEqual(['code', 'message', 'param', 'type']);
  for (const name of ['message', 'type']) expect(body.error[name]).toBeString();
  for (const nullable of ['param', 'code']) {
    expect(body.error[nullable] === null || typeof body.error[nullable] === 'string').toBe(true);
  }
  expect(text).not.toContain(stage.key.secret);
  expect(text).not.toContain(stage.simulator.apiKey);
  return { status: response.status, headers: response.headers, error: body.error };
}

function refusedChat(body: string | Uint8Array<ArrayBuffer> | JsonObject, headers: Record<string, string> = {}): Promise<Refusal> {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  return refusal('/chat/completions', {
    method: 'POST',
    body: isRaw ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  });
}

function nest(depth: number): string {
  return `${'['.repeat(depth)}${']'.repeat(depth)}`;
}

function latin1(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(text, 'latin1'));
}

describe('400 names the wrong field for', () => {
  const tool = { type: 'function', function: { name: 'weather' } };
  const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{}' } };

  test.each<[string, JsonObject, string]>([
    ['a missing model', { messages: MESSAGES }, 'model'],
    ['an empty model', { ...CHAT, model: '' }, 'model'],
    ['a model that is a number', { ...CHAT, model: 7 }, 'model'],
    ['a null model', { ...CHAT, model: null }, 'model'],
    ['missing messages', { model: 'mock/gpt' }, 'messages'],
    ['empty messages', { ...CHAT, messages: [] }, 'messages'],
    ['messages that are a string', { ...CHAT, messages: 'Hi' }, 'messages'],
    ['a message that is a string', { ...CHAT, messages: ['Hi'] }, 'messages[0]'],
    ['an unknown role', { ...CHAT, messages: [{ role: 'wizard', content: 'Hi' }] }, 'messages[0].role'],
    ['a message without a role', { ...CHAT, messages: [{ content: 'Hi' }] }, 'messages[0].role'],
    ['content that is a number', { ...CHAT, messages: [{ role: 'user', content: 7 }] }, 'messages[0].content'],
    ['a user without content', { ...CHAT, messages: [{ role: 'user' }] }, 'messages[0].content'],
    ['a part without a type', { ...CHAT, messages: [{ role: 'user', content: [{}] }] }, 'messages[0].content[0].type'],
    ['a temperature of 3', { ...CHAT, temperature: 3 }, 'temperature'],
    ['a temperature below 0', { ...CHAT, temperature: -0.1 }, 'temperature'],
    ['a temperature that is text', { ...CHAT, temperature: 'hot' }, 'temperature'],
    ['a top_p of 2', { ...CHAT, top_p: 2 }, 'top_p'],
    ['n of 0', { ...CHAT, n: 0 }, 'n'],
    ['n of 129', { ...CHAT, n: 129 }, 'n'],
    ['n of 1.5', { ...CHAT, n: 1.5 }, 'n'],
    ['max_tokens of 0', { ...CHAT, max_tokens: 0 }, 'max_tokens'],
    ['max_completion_tokens below 0', { ...CHAT, max_completion_tokens: -5 }, 'max_completion_tokens'],
    ['a presence_penalty of 9', { ...CHAT, presence_penalty: 9 }, 'presence_penalty'],
    ['top_logprobs of 21', { ...CHAT, logprobs: true, top_logprobs: 21 }, 'top_logprobs'],
    ['five stop words', { ...CHAT, stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop'],
    ['a stream that is text', { ...CHAT, stream: 'yes' }, 'stream'],
    ['stream_options without stream', { ...CHAT, stream_options: { include_usage: true } }, 'stream_options'],
    ['tools that are an object', { ...CHAT, tools: tool }, 'tools'],
    ['a tool without a name', { ...CHAT, tools: [{ type: 'function', function: {} }] }, 'tools[0].function.name'],
    ['more than 128 tools', { ...CHAT, tools: Array.from({ length: 129 }, () => tool) }, 'tools'],
    ['more than 2048 messages', { ...CHAT, messages: Array.from({ length: 2049 }, () => MESSAGES[0]) }, 'messages'],
  ])('%s', async (_, body, param) => {
    const { status, headers, error } = await refusedChat(body);
    expect({ status, param: error['param'] }).toEqual({ status: 400, param });
    expect(error['type']).toBe('invalid_request_error');
    expect(headers.get('x-should-retry')).toBe('false');
    expect(stage.simulator.requests).toEqual([]);
  });

  test.each<[string, readonly JsonObject[]]>([
    ['an orphan tool message', [...MESSAGES, { role: 'tool', tool_call_id: 'call_1', content: '21' }]],
    [
      'a tool message for another call',
      [
        { role: 'assistant', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'call_2', content: '21' },
      ],
    ],
    ['an unanswered tool call', [...MESSAGES, { role: 'assistant', tool_calls: [call] }, ...MESSAGES]],
  ])('%s', async (_, messages) => {
    const { status, error } = await refusedChat({ ...CHAT, messages });
    expect(status).toBe(400);
    expect(error['param']).toStartWith('messages');
    expect(stage.simulator.requests).toEqual([]);
  });
});

describe('400 for an unreadable body:', () => {
  test.each<[string, string | Uint8Array<ArrayBuffer>]>([
    ['nothing', ''],
    ['a truncated object', '{"model":"mock/gpt","messages":['],
    ['an array', '[]'],
    ['null', 'null'],
    ['a number', '7'],
    ['a trailing comma', '{"model":"mock/gpt",}'],
    ['text after the object', `${JSON.stringify(CHAT)}{}`],
    ['nesting over 64', `{"model":"mock/gpt","metadata":${nest(70)},"messages":[{"role":"user","content":"Hi"}]}`],
    ['nesting of 200 000', nest(200_000)],
    ['invalid UTF-8', latin1('{"model":"mock/gpt","messages":[{"role":"user","content":"\xff\xfe"}]}')],
    ['a truncated UTF-8 character', latin1('{"model":"mock/gpt","messages":[{"role":"user","content":"\xe2\x82"}]}')],
    ['more than 20 MB', `{"model":"mock/gpt","messages":[{"role":"user","content":"${'a'.repeat(20 * 1024 * 1024)}"}]}`],
  ])('%s', async (_, body) => {
    const { status, error } = await refusedChat(body);
    expect(status).toBe(400);
    expect(error).toMatchObject({ type: 'invalid_request_error', param: null });
    expect(stage.simulator.requests).toEqual([]);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
    'the media type %s',
    async (contentType) => {
      const { status, error } = await refusedChat(CHAT, { 'content-type': contentType });
      expect({ status, code: error['code'] }).toEqual({ status: 400, code: 'unsupported_content_type' });
    },
  );
});

describe('401 for', () => {
  test.each<[string, Record<string, string>]>([
    ['an empty header', { authorization: '' }],
    ['another scheme', { authorization: 'Basic OnNrLXRlc3Q=' }],
    ['a scheme without a key', { authorization: 'Bearer' }],
    ['a key of another service', { authorization: 'Bearer sk-proj-0123456789' }],
    ['a key with a broken checksum', { authorization: `Bearer sk-tg-${'A'.repeat(50)}` }],
    ['a key in the wrong header', { authorization: '', 'x-api-key': 'sk-tg-1' }],
  ])('%s', async (_, headers) => {
    for (const { status, error } of [await refusedChat(CHAT, headers), await refusal('/models', { headers })]) {
      expect({ status, type: error['type'] }).toEqual({ status: 401, type: 'invalid_request_error' });
    }
    expect(stage.simulator.requests).toEqual([]);
  });

  test('a mistyped key, which is not shown in full', async () => {
    const wrong = `${stage.key.secret.slice(0, -1)}${stage.key.secret.endsWith('x') ? 'y' : 'x'}`;
    const { status, error } = await refusedChat(CHAT, { authorization: `Bearer ${wrong}` });
    expect(status).toBe(401);
    expect(error['message']).not.toContain(wrong.slice(10, -5));
  });
});

describe('404 for', () => {
  test.each([
    ['GET', '/chat/completions'],
    ['PUT', '/chat/completions'],
    ['DELETE', '/chat/completions'],
    ['POST', '/models'],
    ['DELETE', '/models/mock/gpt'],
    ['GET', '/'],
    ['GET', ''],
    ['GET', '/nowhere'],
    ['POST', '/completions'],
    ['POST', '/embeddings'],
    ['GET', '/models/mock/unknown'],
    ['GET', '/models/%00%ff'],
    ['GET', '/models/constructor'],
    ['GET', '/models/__proto__'],
  ])('%s %s', async (method, path) => {
    const { status, error, headers } = await refusal(path, { method });
    expect({ status, type: error['type'] }).toEqual({ status: 404, type: 'invalid_request_error' });
    expect(headers.get('x-should-retry')).toBe('false');
  });

  test.each(['constructor', '__proto__', 'toString', 'mock/GPT', 'gpt-x', ' mock/gpt'])('the model %s', async (model) => {
    const { status, error } = await refusedChat({ ...CHAT, model });
    expect({ status, code: error['code'] }).toEqual({ status: 404, code: 'model_not_found' });
  });
});

describe('429', () => {
  test('comes with whole seconds to wait and the limits of the key', async () => {
    const { secret } = await stage.gate.makeKey({ rpm: 1 });
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    const init = { method: 'POST', body: JSON.stringify(CHAT), headers };
    expect((await fetch(`${stage.gate.baseUrl}/chat/completions`, init)).status).toBe(200);
    const refused = await refusal('/chat/completions', init);
    expect(refused.status).toBe(429);
    expect(refused.error).toMatchObject({ type: 'requests', code: 'rate_limit_exceeded', param: null });
    expect(Number(refused.headers.get('retry-after'))).toBeWithin(1, 61);
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/u);
    expect(Math.ceil(Number(refused.headers.get('retry-after-ms')) / 1000)).toBe(Number(refused.headers.get('retry-after')));
    expect(refused.headers.get('x-ratelimit-limit-requests')).toBe('1');
    expect(refused.headers.get('x-ratelimit-remaining-requests')).toBe('0');
    expect(refused.headers.get('x-ratelimit-reset-requests')).toMatch(/^(\d+m)?(\d+(\.\d+)?s)?(\d+ms)?$/u);
    expect(refused.headers.get('x-should-retry')).not.toBe('false');
    expect(stage.simulator.requests).toHaveLength(1);
  });

  test('counts each key separately', async () => {
    const [one, other] = await Promise.all([stage.gate.makeKey({ concurrent: 1 }), stage.gate.makeKey({ concurrent: 1 })]);
    stage.simulator.always({ type: 'pace', gapMs: 40 });
    const ask = (secret: string): Promise<Response> =>
      fetch(`${stage.gate.baseUrl}/chat/completions`, {
        method: 'POST',
        body: JSON.stringify(CHAT),
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      });
    const statuses = [one, one, other, other].map((holder) => ask(holder.secret).then((response) => response.status));
    expect((await Promise.all(statuses)).toSorted((a, b) => a - b)).toEqual([200, 200, 429, 429]);
    expect((await ask(one.secret)).status).toBe(200);
  });
});
