import { describe, expect, test } from 'bun:test';
import { costNanos } from '../simulator/invoice.ts';
import type { JsonObject, Usage } from '../simulator/wire.ts';
import { CHAT, OpenAiStage } from './openai-stage.ts';

const stage = new OpenAiStage({ timeouts: { keep_alive_ms: 100 } });

function call(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${stage.key.secret}`, ...(init.headers as Record<string, string>) };
  return fetch(`${stage.gate.baseUrl}${path}`, { ...init, headers });
}

function post(body: string | JsonObject, headers: Record<string, string> = {}): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return call('/chat/completions', {
    method: 'POST',
    body: text,
    headers: { 'content-type': 'application/json', ...headers },
  });
}

async function readEvents(body: JsonObject): Promise<JsonObject[]> {
  const text = await (await post({ ...CHAT, stream: true, ...body })).text();
  const events = text.split('\n\n').filter((event) => event.startsWith('data: {'));
  return events.map((event) => JSON.parse(event.slice(6)) as JsonObject);
}

describe('a stream', () => {
  test('consists of data lines, each followed by a blank line, and ends with [DONE]', async () => {
    const response = await post({ ...CHAT, stream: true });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const text = await response.text();
    expect(text).toEndWith('\n\ndata: [DONE]\n\n');
    expect(
      text
        .match(/^data: .*$/gmu)
        ?.map((line) => `${line}\n\n`)
        .join(''),
    ).toBe(text);
    expect(text.match(/\[DONE\]/gu)).toHaveLength(1);
  });

  test('has no usage key when usage was not requested', async () => {
    for (const stream_options of [undefined, null, {}, { include_usage: false }]) {
      const events = await readEvents({ stream_options });
      expect(events.length).toBeGreaterThan(10);
      expect(events.filter((event) => 'usage' in event)).toEqual([]);
      expect(events.filter((event) => (event['choices'] as unknown[]).length !== 1)).toEqual([]);
    }
  });

  test.each(['on_every_chunk', 'on_finish_chunk', 'bare'] as const)(
    'has usage only on its last chunk when the provider sends it %s',
    async (value) => {
      stage.simulator.always({ type: 'usage', value });
      const asked = await readEvents({ stream_options: { include_usage: true } });
      expect(asked.slice(0, -1).map((event) => event['usage'])).toEqual(asked.slice(0, -1).map(() => null));
      expect(asked.at(-1)).toMatchObject({ choices: [], usage: stage.simulator.requests[0]?.usage as Usage });
      const unasked = await readEvents({});
      expect(unasked.filter((event) => 'usage' in event)).toEqual([]);
    },
  );

  test('shows our cost, and not the cost that the provider reports', async () => {
    const counts = { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 };
    stage.simulator.always({ type: 'answer', usage: { ...counts, cost: 9, cost_details: { upstream_inference_cost: 9 }, is_byok: true } });
    const events = await readEvents({ stream_options: { include_usage: true } });
    expect(Object.keys(events.at(-1)?.['usage'] as object)).toEqual([...Object.keys(counts), 'cost']);
  });

  test('is kept alive by comments while the provider thinks', async () => {
    stage.simulator.always({ type: 'pace', gapMs: 250 });
    const text = await (await post({ ...CHAT, stream: true, max_completion_tokens: 2 })).text();
    expect(text.match(/^:.*\n\n/gmu)?.length).toBeGreaterThanOrEqual(4);
    expect(text.replaceAll(/^:.*\n\n/gmu, '')).toMatch(/^(data: \{.*\}\n\n)+data: \[DONE\]\n\n$/u);
  });

  test('starts before its first event when the provider has sent only its headers', async () => {
    stage.simulator.always({ type: 'hang', moment: { at: 'after_headers' } });
    const leaving = new AbortController();
    const response = await call('/chat/completions', {
      method: 'POST',
      body: JSON.stringify({ ...CHAT, stream: true }),
      headers: { 'content-type': 'application/json' },
      signal: leaving.signal,
    });
    expect(response.status).toBe(200);
    const { value } = (await response.body?.getReader().read()) ?? {};
    expect(new TextDecoder().decode(value)).toStartWith(':');
    leaving.abort();
  });

  test('starts before its first event when the provider has sent only a comment', async () => {
    stage.simulator.always({ type: 'framing', style: 'comments', gapMs: 600 });
    const startedAt = performance.now();
    const response = await post({ ...CHAT, stream: true, max_completion_tokens: 1 });
    const headAfterMs = performance.now() - startedAt;
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    expect(performance.now() - startedAt - headAfterMs).toBeGreaterThan(100);
    await reader.cancel();
  });

  test('arrives while the provider is still writing', async () => {
    stage.simulator.always({ type: 'pace', gapMs: 40 });
    const startedAt = performance.now();
    const response = await post({ ...CHAT, stream: true });
    const firstAfterMs = performance.now() - startedAt;
    await response.text();
    expect(firstAfterMs).toBeLessThan((performance.now() - startedAt) / 2);
  });
});

describe('a JSON answer', () => {
  test('has the media type and the fields of the dialect', async () => {
    const response = await post(CHAT);
    expect(response.headers.get('content-type')).toMatch(/^application\/json\b/u);
    const body = (await response.json()) as JsonObject;
    expect(Object.keys(body)).toEqual(expect.arrayContaining(['id', 'object', 'created', 'model', 'choices', 'usage']));
    expect(body).toMatchObject({ object: 'chat.completion', model: 'mock/gpt', created: expect.any(Number) });
    expect(body['system_fingerprint']).toBe('fp_5imu1ator');
  });

  test('without text can be sent back unchanged', async () => {
    const choices = [{ index: 0, message: { role: 'assistant', content: null, reasoning_content: 'Hm' }, finish_reason: 'length' }];
    stage.simulator.always({ type: 'recorded', reply: { body: JSON.stringify({ choices }), events: [] } });
    const answer = (await (await post(CHAT)).json()) as { choices: [{ message: JsonObject }] };
    const { message } = answer.choices[0];
    expect(message).toEqual({ role: 'assistant', content: '', reasoning_content: 'Hm', refusal: null });
    const next = await post({ ...CHAT, messages: [...CHAT.messages, message, { role: 'user', content: 'Go on' }] });
    expect(next.status).toBe(200);
  });

  test('does not carry the headers of the provider', async () => {
    const { headers } = await post(CHAT);
    for (const name of ['set-cookie', 'openai-organization', 'openai-version']) expect(headers.get(name)).toBeNull();
    expect(headers.get('x-ratelimit-limit-requests')).not.toBe('30000');
  });

  test('carries the rate limits of the key', async () => {
    const { secret } = await stage.gate.makeKey({ rpm: 77, tpm: 99_000 });
    const { headers } = await post(CHAT, { authorization: `Bearer ${secret}` });
    expect(headers.get('x-ratelimit-limit-requests')).toBe('77');
    expect(headers.get('x-ratelimit-limit-tokens')).toBe('99000');
    expect(headers.get('x-ratelimit-remaining-requests')).toBe('76');
    expect(headers.get('x-ratelimit-remaining-tokens')).toMatch(/^\d+$/u);
    for (const unit of ['requests', 'tokens']) {
      expect(headers.get(`x-ratelimit-reset-${unit}`)).toMatch(/^(\d+h)?(\d+m)?(\d+(\.\d+)?s)?(\d+ms)?$/u);
    }
  });

  test('is served for a media type with a charset', async () => {
    expect((await post(CHAT, { 'content-type': 'application/json; charset=utf-8' })).status).toBe(200);
  });
});

/** A long request is passed on in its original text as far as possible. A short one is rewritten. */
describe.each([
  ['short', 'Hi'],
  ['long', 'Hi there. '.repeat(1000)],
])('what the provider receives for a %s request', (_length, content) => {
  test('has the unknown fields, the model name of the route, and all else unchanged', async () => {
    const body = {
      ...CHAT,
      messages: [{ role: 'user', content: [{ type: 'text', text: content, cache_control: { type: 'ephemeral' } }] }],
      temperature: 0,
      top_k: 40,
      user: '',
      provider: { order: ['a', 'b'], nested: { deep: [1, null, false, 'x'] } },
    };
    expect((await post(body)).status).toBe(200);
    const [request] = stage.simulator.requests;
    expect(request?.body).toMatchObject({ ...body, model: 'gpt-x' });
    expect(request?.unknownFields).toEqual(['top_k', 'provider']);
    expect(request?.headers['content-type']).toMatch(/^application\/json\b/u);
  });

  test('is the original text of the client, except for the model name and the stream options', async () => {
    const messages = `[ {"role":"user", "content":"${content}\\u0041\\/"} ]`;
    expect((await post(`{"stream":true,"messages":${messages},"model":"mock/gpt","user":null,"temperature":1.0}`)).status).toBe(200);
    const [request] = stage.simulator.requests;
    expect(request?.body).toEqual({
      stream: true,
      messages: JSON.parse(messages) as unknown,
      model: 'gpt-x',
      temperature: 1,
      stream_options: { include_usage: true },
    });
    expect(request?.text.includes(messages)).toBe(content.length > 4096);
  });

  test('contains none of the client’s headers', async () => {
    const secrets = {
      'openai-organization': 'org-callers',
      'openai-project': 'proj-callers',
      cookie: 'session=callers',
      'x-api-key': 'callers',
      'x-forwarded-for': '203.0.113.9',
      'user-agent': 'callers-agent/1',
      'x-custom': 'callers',
      'proxy-authorization': 'Basic callers',
    };
    expect((await post(CHAT, secrets)).status).toBe(200);
    const [request] = stage.simulator.requests;
    expect(request?.headers['authorization']).toBe(`Bearer ${stage.simulator.apiKey}`);
    expect(JSON.stringify(request?.headers)).not.toContain('callers');
    expect(JSON.stringify(request?.headers)).not.toContain('203.0.113.9');
    expect(JSON.stringify(request?.headers)).not.toContain(stage.key.secret);
  });

  test.each([
    [undefined, '1'],
    ['1', '2'],
    ['3', '4'],
    ['many', '1'],
  ])('counts the gates passed when the client sends %p', async (sent, hop) => {
    expect((await post(CHAT, sent === undefined ? {} : { 'x-tollgate-hop': sent })).status).toBe(200);
    expect(stage.simulator.requests[0]?.headers['x-tollgate-hop']).toBe(hop);
  });

  test.each(['4', '77'])('is nothing after %s gates', async (sent) => {
    const response = await post(CHAT, { 'x-tollgate-hop': sent });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: 'request_loop', message: expect.stringContaining('base_url') } });
    expect(stage.simulator.requests).toEqual([]);
  });

  test.each(['9223372036854775807', '-9223372036854775808', '9007199254740993'])('keeps the seed %s exactly', async (seed) => {
    expect((await post(`{"model":"mock/gpt","seed":${seed},"messages":[{"role":"user","content":"${content}"}]}`)).status).toBe(200);
    expect(stage.simulator.requests[0]?.text).toMatch(new RegExp(`"seed":\\s*${seed}[,}]`, 'u'));
  });

  test.each([
    ['9223372036854775808', 'integer_above_max_value', 'is 9223372036854775808; it must be at most 9223372036854775807.'],
    ['-9223372036854775809', 'integer_below_min_value', 'is -9223372036854775809; it must be at least -9223372036854775808.'],
    ['9223372036854777856', 'integer_above_max_value', 'is too large; it must be at most 9223372036854775807.'],
    ['1e30', 'integer_above_max_value', 'at most 9223372036854775807.'],
    ['-1e400', 'integer_below_min_value', 'is too small; it must be at least -9223372036854775808.'],
    ['1.5', 'invalid_type', 'an integer from -9223372036854775808 to 9223372036854775807'],
    ['9007199254740993.0', 'invalid_value', 'a plain integer'],
    ['9007199254740993e0', 'invalid_value', 'a plain integer'],
    ['9.007199254740993e15', 'invalid_value', 'a plain integer'],
  ])('is nothing when the seed %s does not fit into 64 bits or would be rounded', async (seed, code, text) => {
    const response = await post(`{"model":"mock/gpt","seed":${seed},"messages":[{"role":"user","content":"${content}"}]}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code, param: 'seed', message: expect.stringContaining(text) } });
    expect(stage.simulator.requests).toEqual([]);
  });

  test.each([
    ['max_tokens', '1e400'],
    ['max_tokens', '9007199254740993'],
    ['max_completion_tokens', '9'.repeat(400)],
    ['n', '1e400'],
    ['temperature', '1e400'],
  ])('is nothing when %s is %p, which no number holds', async (param, number) => {
    const response = await post(`{"model":"mock/gpt","${param}":${number},"messages":[{"role":"user","content":"${content}"}]}`);
    expect(response.status).toBe(400);
    const message = expect.stringMatching(`'${param}' is too large; it must be at most`) as string;
    expect(await response.json()).toMatchObject({ error: { code: expect.stringContaining('above_max_value'), param, message } });
    expect(stage.simulator.requests).toEqual([]);
  });

  test.each([
    ['"x":1e5000', null, "'x' has a number"],
    [`"x":[{"y":-1${'0'.repeat(400)}}]`, null, "'x' has a number"],
    ['"tools":[{"type":"function","function":{"name":"f","parameters":{"maximum":1.5E+400}}}]', 'tools', "'tools' has a number"],
  ])('is nothing when a number is too large: %s', async (field, param, text) => {
    const response = await post(`{"model":"mock/gpt",${field},"messages":[{"role":"user","content":"${content}"}]}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: 'invalid_value', param, message: expect.stringContaining(text) } });
    expect(stage.simulator.requests).toEqual([]);
  });

  test('keeps numbers with a valid exponent', async () => {
    expect((await post(`{"model":"mock/gpt","x":[1e3,1.5E+308],"messages":[{"role":"user","content":"${content}"}]}`)).status).toBe(200);
    expect(stage.simulator.requests[0]?.body['x']).toEqual([1000, 1.5e308]);
  });

  test.each([
    ['plain', '"model":"mock/free","model":"mock/gpt"'],
    ['escaped', '"model":"mock/free","\\u006dodel":"mock/gpt"'],
    ['streams', '"model":"mock/gpt","stream":true,"stream":false'],
    ['limits', '"model":"mock/gpt","max_tokens":1,"max_tokens":2'],
  ])('is what was priced and served when keys are repeated: %s', async (_, fields) => {
    const payer = await stage.gate.makeKey();
    const headers = { authorization: `Bearer ${payer.secret}` };
    const response = await post(`{${fields},"messages":[{"role":"user","content":"${content}"}]}`, headers);
    expect(await response.json()).toMatchObject({ object: 'chat.completion', model: 'mock/gpt' });
    const [request] = stage.simulator.requests;
    expect(request?.text.match(/"(m|\\u006d)odel"\s*:/gu)).toHaveLength(1);
    expect(request?.text.match(/"stream"\s*:\s*true/gu)).toBeNull();
    const cost = costNanos(request?.usage as Usage);
    expect(await stage.gate.settledBalance(payer)).toBe(payer.creditNanos - cost);
  });

  test('is not affected by attempts at prototype pollution', async () => {
    const poison = '"__proto__":{"model":"mock/free","stream":true},"constructor":{"prototype":{"n":3}}';
    const response = await post(`{${poison},"model":"mock/gpt","messages":[{"role":"user","content":"${content}"}]}`);
    expect(((await response.json()) as JsonObject)['model']).toBe('mock/gpt');
    expect(stage.simulator.requests[0]?.body['model']).toBe('gpt-x');
  });
});
