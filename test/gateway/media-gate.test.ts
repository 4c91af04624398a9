import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/config.ts';
import type { Reach } from '../../src/http/fetch-media.ts';
import { asNanos } from '../../src/ledger/money.ts';
import type { JsonObject } from '../../src/openai/types.ts';
import { serve, type Service } from '../../src/serve.ts';
import { cleanUpAfterEach } from '../http/client-setup.ts';
import { PDF, PNG, reachLoopback, sendFile, sendRedirect, serveMedia, WAV } from '../http/media-server.ts';
import { HOSTS, UNKNOWN_HOST } from '../../src/providers/hosts.ts';
import { startBedrockSimulator } from '../simulator/bedrock.ts';
import { startCompatibleSimulator } from '../simulator/compatible.ts';
import { describeModel } from '../simulator/gate.ts';
import { startGeminiSimulator } from '../simulator/gemini.ts';
import { until } from '../until.ts';

/** The whole server, in this process, because the reach of its fetches is not a setting. Everything else is real. */
interface Gate {
  readonly service: Service;
  readonly secret: string;
  readonly folder: string;
}

const gemini = startGeminiSimulator();
const bedrock = startBedrockSimulator();
const ollama = startCompatibleSimulator(HOSTS['ollama'] ?? UNKNOWN_HOST);
/** Generous, because the test machine is busy. */
const AT_ONCE_MS = 1000;
const IMAGE = PNG.toString('base64');
const gates: Gate[] = [];
let gate: Gate;

cleanUpAfterEach();
beforeAll(async () => {
  gate = await startGate({}, reachLoopback());
});
afterAll(async () => {
  for (const { service, folder } of gates) {
    await service.drain();
    rmSync(folder, { recursive: true });
  }
  await gemini.stop();
  await bedrock.stop();
  await ollama.stop();
});

async function startGate(settings: JsonObject, reach?: Reach): Promise<Gate> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-media-'));
  const file = join(folder, 'tollgate.yaml');
  const providers = {
    gemini: { dialect: 'gemini', base_url: gemini.baseUrl, api_key: gemini.apiKey },
    vertex: { dialect: 'gemini-vertex', base_url: gemini.vertexBaseUrl, api_key: gemini.apiKey },
    bedrock: { dialect: 'bedrock', base_url: bedrock.baseUrl, api_key: bedrock.apiKey },
    ollama: { base_url: ollama.baseUrl },
  };
  const price = { input: 1, output: 1 };
  const models = [
    { ...describeModel('mock/gemini', 'gemini', price), routes: [{ provider: 'gemini', model: 'gemini-2.5-flash' }] },
    { ...describeModel('mock/bedrock', 'bedrock', price), routes: [{ provider: 'bedrock', model: 'anthropic.claude-sonnet-4-5-v1:0' }] },
    { ...describeModel('mock/llava', 'ollama', price), routes: [{ provider: 'ollama', model: 'llava' }] },
    {
      ...describeModel('mock/two', 'gemini', price),
      routes: [
        { provider: 'gemini', model: 'gemini-2.5-flash' },
        { provider: 'vertex', model: 'gemini-2.5-flash' },
      ],
    },
    {
      ...describeModel('mock/mixed', 'bedrock', price),
      routes: [
        { provider: 'bedrock', model: 'anthropic.claude-sonnet-4-5-v1:0' },
        { provider: 'gemini', model: 'gemini-2.5-flash' },
      ],
    },
    {
      ...describeModel('mock/turned', 'gemini', price),
      routes: [
        { provider: 'gemini', model: 'gemini-2.5-flash' },
        { provider: 'bedrock', model: 'anthropic.claude-sonnet-4-5-v1:0' },
      ],
    },
  ];
  writeFileSync(file, JSON.stringify({ providers, models, ...settings }));
  const environment = {
    HOST: '127.0.0.1',
    PORT: '0',
    TOLLGATE_DATA: join(folder, 'data'),
    TOLLGATE_CONFIG: file,
    TOLLGATE_LOG_LEVEL: 'silent',
  };
  const service = await serve(loadConfig(environment), reach);
  const account = await service.accounts.create('media@example.com', false);
  if (account === undefined) throw new Error('there is such an account');
  await service.accounts.credit(account, asNanos(10_000_000_000n), { reason: 'test', actor: 'test' });
  const { secret } = await service.keys.create(account.id, { name: 'test' });
  const started = { service, secret, folder };
  gates.push(started);
  return started;
}

interface Reply {
  readonly status: number;
  readonly body: JsonObject & { readonly error?: JsonObject };
}

async function ask(
  model: string,
  part: JsonObject,
  { at = gate, signal = null, messages = [] }: { at?: Gate; signal?: AbortSignal | null; messages?: readonly JsonObject[] } = {},
): Promise<Reply> {
  const response = await fetch(`${at.service.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${at.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model,
      max_tokens: 100,
      messages: [...messages, { role: 'user', content: [{ type: 'text', text: 'Look' }, part] }],
    }),
    signal,
  });
  return { status: response.status, body: (await response.json()) as Reply['body'] };
}

const OVERLOADED = { type: 'status', status: 503, error: { status: 'UNAVAILABLE', message: 'overloaded' } } as const;
const SOUND = { type: 'input_audio', input_audio: { data: WAV.toString('base64'), format: 'wav' } };
const film = (url: string): JsonObject => ({ type: 'video_url', video_url: { url } });
const image = (url: string): JsonObject => ({ type: 'image_url', image_url: { url } });

/** Returns what the simulator received of the last message. */
function partsAtGemini(): unknown {
  const contents = gemini.requests[0]?.body['contents'] as { parts: JsonObject[] }[] | undefined;
  return contents?.at(-1)?.parts;
}

function blocksAtBedrock(): unknown {
  const messages = bedrock.requests.at(-1)?.body['messages'] as { content: JsonObject[] }[] | undefined;
  return messages?.at(-1)?.content;
}

describe('a model at a provider that fetches no media', () => {
  test('sees a picture given by URL: Gemini', async () => {
    const server = await serveMedia((socket) => sendFile(socket, PNG));
    gemini.reset();
    expect(await ask('mock/gemini', image(`${server.origin}/a.png`))).toMatchObject({ status: 200 });
    expect(partsAtGemini()).toEqual([{ text: 'Look' }, { inlineData: { mimeType: 'image/png', data: IMAGE } }]);
  });

  test('sees a picture given by URL: Bedrock', async () => {
    const server = await serveMedia((socket, path) => (path === '/a.png' ? sendRedirect(socket, '/b.png') : sendFile(socket, PNG)));
    expect(await ask('mock/bedrock', image(`${server.origin}/a.png`))).toMatchObject({ status: 200 });
    expect(blocksAtBedrock()).toContainEqual({ image: { format: 'png', source: { bytes: IMAGE } } });
  });

  test('sees a picture given by URL, also in a result of a tool: Ollama', async () => {
    const server = await serveMedia((socket) => sendFile(socket, PNG));
    const result = { role: 'tool', tool_call_id: 'c', content: [image(`${server.origin}/a.png`)] };
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
    const messages = [{ role: 'assistant', content: null, tool_calls: [call] }, result];
    const content = [{ type: 'image_url', image_url: { url: `data:image/png;base64,${IMAGE}` } }];
    expect(await ask('mock/llava', image(`${server.origin}/a.png`), { messages })).toMatchObject({ status: 200 });
    expect(ollama.requests[0]?.['messages']).toMatchObject([
      ...messages.slice(0, 1),
      { ...result, content },
      { content: [{ type: 'text' }, ...content] },
    ]);
  });

  test('reads a file given by URL: Bedrock', async () => {
    const server = await serveMedia((socket) => sendFile(socket, PDF, 'application/pdf'));
    const file = { type: 'file', file: { filename: 'book.pdf', file_data: `${server.origin}/book.pdf` } };
    expect(await ask('mock/bedrock', file)).toMatchObject({ status: 200 });
    expect(blocksAtBedrock()).toContainEqual({ document: { name: 'book', format: 'pdf', source: { bytes: PDF.toString('base64') } } });
  });

  test('gets a YouTube video by its URL', async () => {
    const url = 'https://www.youtube.com/watch?v=abc';
    gemini.reset();
    expect(await ask('mock/gemini', film(url))).toMatchObject({ status: 200 });
    expect(partsAtGemini()).toContainEqual({ fileData: { fileUri: url } });
  });

  test('reuses media fetched for the first route on the second', async () => {
    const server = await serveMedia((socket) => sendFile(socket, PNG));
    gemini.reset();
    gemini.next(OVERLOADED);
    expect(await ask('mock/two', image(server.origin))).toMatchObject({ status: 200 });
    expect(gemini.requests).toHaveLength(2);
    expect(server.requests).toHaveLength(1);
  });

  test('gets a YouTube video by its URL after the first route could not fetch it', async () => {
    const url = 'https://www.youtube.com/watch?v=abc';
    gemini.reset();
    const asked = bedrock.requests.length;
    expect(await ask('mock/mixed', film(url))).toMatchObject({ status: 200 });
    expect(partsAtGemini()).toContainEqual({ fileData: { fileUri: url } });
    expect(bedrock.requests).toHaveLength(asked);
  });

  test('serves a request that the dialect of the first route cannot express', async () => {
    const asked = bedrock.requests.length;
    gemini.reset();
    expect(await ask('mock/mixed', SOUND)).toMatchObject({ status: 200 });
    expect(partsAtGemini()).toContainEqual({ inlineData: { mimeType: 'audio/wav', data: SOUND.input_audio.data } });
    expect(bedrock.requests).toHaveLength(asked);
  });

  test('as a fallback that cannot carry the request does not hide why the first route failed', async () => {
    gemini.reset();
    gemini.next(OVERLOADED);
    const { status, body } = await ask('mock/turned', SOUND);
    expect([status, body.error?.['code']]).toEqual([500, 'provider_error']);
  });
});

describe('media that cannot be fetched', () => {
  test.each([
    ['a web page', 'text/html', '<html>secret</html>', 'invalid_image_format'],
    ['an error', 'image/png', undefined, 'invalid_image_url'],
  ])('is a 400 with its field, and the provider is not called: %s', async (_, type, text, code) => {
    const server = await serveMedia((socket) =>
      text === undefined ? socket.end('HTTP/1.1 500 Oh\r\ncontent-length: 6\r\n\r\nsecret') : sendFile(socket, Buffer.from(text), type),
    );
    gemini.reset();
    const { status, body } = await ask('mock/gemini', image(server.origin));
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ type: 'invalid_request_error', code, param: 'messages[0].content[1].image_url.url' });
    expect(JSON.stringify(body)).not.toMatch(/secret|localhost|127\.0/u);
    expect(gemini.requests).toHaveLength(0);
  });

  test('is requested once, however many routes would need it', async () => {
    const server = await serveMedia((socket) => sendFile(socket, Buffer.from('<html>'), 'text/html'));
    expect(await ask('mock/two', image(server.origin))).toMatchObject({ status: 400, body: { error: { code: 'invalid_image_format' } } });
    expect(server.requests).toHaveLength(1);
  });

  test('is abandoned when the client leaves', async () => {
    const server = await serveMedia(() => undefined);
    const leaving = new AbortController();
    const asking = ask('mock/gemini', image(server.origin), { signal: leaving.signal }).catch(() => 'left');
    await until(() => server.requests.length === 1);
    leaving.abort();
    expect(await asking).toBe('left');
    await until(() => server.openConnections === 0, AT_ONCE_MS);
  });
});

test('a server with default settings fetches nothing from its own machine', async () => {
  const server = await serveMedia((socket) => sendFile(socket, PNG));
  const usual = await startGate({});
  for (const url of [
    `https://127.0.0.1:${server.port}/`,
    `https://localhost:${server.port}/`,
    'https://169.254.169.254/latest/meta-data/',
  ]) {
    const { status, body } = await ask('mock/gemini', image(url), { at: usual });
    expect([status, body.error?.['code']]).toEqual([400, 'invalid_image_url']);
  }
  expect(server.connections).toBe(0);
});

test('media fetching can be disabled', async () => {
  const server = await serveMedia((socket) => sendFile(socket, PNG));
  const closed = await startGate({ media: { fetch: false } }, reachLoopback());
  const { status, body } = await ask('mock/gemini', image(server.origin), { at: closed });
  expect([status, body.error?.['code'], body.error?.['param']]).toEqual([400, 'unsupported_value', 'messages[0].content[1]']);
  expect(server.connections).toBe(0);
});
