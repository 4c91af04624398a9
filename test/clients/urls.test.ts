import { describe, expect, test } from 'bun:test';
import { exchangeBytes, type Outcome } from '../faults/raw-client.ts';
import type { JsonObject } from '../simulator/wire.ts';
import { CHAT, OpenAiStage } from './openai-stage.ts';

const stage = new OpenAiStage();

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

function call(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${stage.key.secret}`, ...(init.headers as Record<string, string>) };
  return fetch(`${stage.gate.origin}${path}`, { ...init, headers });
}

function post(path: string): Promise<Response> {
  return call(path, { method: 'POST', body: JSON.stringify(CHAT), headers: { 'content-type': 'application/json' } });
}

/** Sends a request with exactly this path: clients of this runtime merge slashes at its start. */
function callWithBytes(method: string, start: string): Promise<Outcome> {
  const body = method === 'POST' ? JSON.stringify(CHAT) : '';
  const headers = `Authorization: Bearer ${stage.key.secret}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  const bytes = Buffer.from(`${method} ${start}\r\n${headers}\r\n\r\n${body}`);
  return exchangeBytes({ port: Number(new URL(stage.gate.origin).port), bytes, isCut: false, isHead: false, timeoutMs: 30_000 });
}

describe('the URLs of the API:', () => {
  test.each([
    ['HEAD', '/v1/models'],
    ['HEAD', '/v1/models/mock/gpt'],
    ['HEAD', '/models'],
    ['GET', '/v1/models/'],
    ['GET', '/v1//models'],
    ['GET', '/v1/models//'],
    ['GET', '/models'],
    ['GET', '/models/'],
    ['GET', '/v1/models?limit=5'],
    ['GET', '/v1/models/mock/gpt'],
    ['GET', '/v1/models/mock%2Fgpt'],
    ['GET', '/v1/models/mock%2fgpt'],
    ['GET', '/v1/models/mock/gpt/'],
    ['GET', '/v1//models//mock/gpt'],
    ['GET', '/models/mock/gpt'],
    ['GET', '/models/mock%2Fgpt'],
    ['OPTIONS', '/v1/models'],
    ['OPTIONS', '/v1/chat/completions'],
    ['OPTIONS', '/chat/completions'],
  ])('%s %s answers 200', async (method, path) => {
    const response = await call(path, { method });
    expect(response.status).toBe(200);
    expect(response.redirected).toBe(false);
    expect(response.headers.get('x-request-id')).toBeTruthy();
    const text = await response.text();
    if (method === 'GET') expect(text).toContain('"mock/gpt"');
    else expect(text).toBe('');
  });

  test('a preflight needs no key and allows the headers of the SDKs', async () => {
    const response = await fetch(`${stage.gate.baseUrl}/chat/completions`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example.com',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,x-stainless-lang',
      },
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('access-control-allow-origin')).toBeTruthy();
    expect(response.headers.get('access-control-allow-headers')?.toLowerCase()).toMatch(/\*|x-stainless-lang/u);
  });

  test.each(['/v1/chat/completions/', '/v1//chat/completions', '/v1//chat//completions//', '/chat/completions', '/chat/completions/'])(
    'POST %s answers 200',
    async (path) => {
      const response = await post(path);
      expect({ status: response.status, text: await response.text() }).toMatchObject({ status: 200 });
      expect(stage.simulator.requests).toHaveLength(1);
    },
  );

  test.each([
    ['GET', '/v1/chat/completions', 'use POST'],
    ['GET', '/chat/completions', 'use POST'],
    ['POST', '/models', 'use GET'],
    ['DELETE', '/models/mock/gpt', 'use GET'],
  ])('%s %s says which method to use', async (method, path, advice) => {
    const response = await call(path, { method });
    const { error } = (await response.json()) as { error: JsonObject };
    expect([response.status, error['code']]).toEqual([404, 'method_not_supported']);
    expect(error['message']).toContain(advice);
  });

  test.each(['/models', '/models/mock/gpt', '/chat/completions'])('%s is private like its address with /v1', async (path) => {
    const method = path === '/chat/completions' ? 'POST' : 'GET';
    const response = await fetch(`${stage.gate.origin}${path}`, { method });
    expect(response.status).toBe(401);
  });

  test.each([
    ['GET', '//v1/models', 200],
    ['GET', '//v1//models?limit=5', 200],
    ['GET', '//models', 200],
    ['GET', '//v1/models/mock%2Fgpt', 200],
    ['POST', '//v1/chat/completions', 200],
    ['POST', '//chat/completions', 200],
    ['GET', '//v1/chat/completions', 404],
  ])('%s %s answers like its address with single slashes, with and without a host', async (method, path, status) => {
    for (const start of [`${path} HTTP/1.1\r\nHost: gate`, `${path} HTTP/1.0`]) {
      const answer = await callWithBytes(method, start);
      expect(answer).toMatchObject({ type: 'answer', status, contentType: 'application/json' });
    }
  });

  test('GET //v1/models is no page, even for a client that accepts pages', async () => {
    const answer = await callWithBytes('GET', `//v1/models HTTP/1.1\r\nHost: gate\r\nAccept: ${BROWSER.accept}`);
    expect(answer).toMatchObject({ type: 'answer', status: 200, contentType: 'application/json' });
  });

  test('the model list has its envelope and decimal prices', async () => {
    const list = (await (await call('/v1/models')).json()) as { object: string; data: JsonObject[] };
    expect(list.object).toBe('list');
    const model = list.data.find((entry) => entry['id'] === 'mock/gpt');
    expect(model).toMatchObject({ object: 'model', created: 1_700_000_000, owned_by: 'mock' });
    const pricing = model?.['pricing'] as Record<string, string>;
    expect([pricing['prompt'], pricing['completion']].map(Number)).toEqual([0.000_002_5, 0.000_01]);
    expect(pricing['prompt']).toBeString();
  });
});

describe('the pages of the dashboard', () => {
  test.each(['/', '/docs'])('%s tells a program where the API is', async (path) => {
    const response = await fetch(`${stage.gate.origin}${path}`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    const text = await response.text();
    for (const address of ['/v1/chat/completions', '/v1/models', '/api/openapi.json']) expect(text).toContain(address);
    expect((await fetch(`${stage.gate.origin}/api/openapi.json`)).status).toBe(200);
  });

  test.each([
    ['/', 200],
    ['/docs', 200],
    ['/models', 200],
    ['/models/mock/gpt', 404],
    ['/chat/completions', 404],
  ])('%s is a page for a browser, with status %i', async (path, status) => {
    const response = await fetch(`${stage.gate.origin}${path}`, { headers: BROWSER });
    // Pages that are not built are answered with 503.
    expect([status, 503]).toContain(response.status);
    expect(response.headers.get('content-security-policy')).toContain("script-src 'self'");
  });

  test.each([
    ['GET', '/billing'],
    ['POST', '/'],
    ['POST', '/docs'],
  ])('%s %s is an error for a program', async (method, path) => {
    const response = await fetch(`${stage.gate.origin}${path}`, { method });
    expect([response.status, ((await response.json()) as { error: JsonObject }).error['code']]).toEqual([404, 'unknown_url']);
  });
});
