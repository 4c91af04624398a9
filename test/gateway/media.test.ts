import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { HeldBytes } from '../../src/http/held-bytes.ts';
import { Call } from '../../src/gateway/call.ts';
import { ADDRESSES_MAX, FILE_BYTES_MAX, inlineMedia, WAITING_MAX, withMedia, type InlineOptions } from '../../src/gateway/media.ts';
import type { Dispatch } from '../../src/gateway/dispatch.ts';
import type { ChatRequest, JsonObject } from '../../src/openai/types.ts';
import { cleanUpAfterEach } from '../http/client-setup.ts';
import { PDF, PNG, reachLoopback, sendFile, sendRedirect, serveMedia, WAV } from '../http/media-server.ts';
import { failureOf } from '../simulator/failure.ts';
import { until } from '../until.ts';

cleanUpAfterEach();

function chatOf(...parts: readonly JsonObject[]): ChatRequest {
  return {
    model: 'mock/gemini',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: parts },
    ],
    seed: 1,
  };
}

function image(url: string): JsonObject {
  return { type: 'image_url', image_url: { url, detail: 'low' } };
}

function inline(chat: ChatRequest, changes: Partial<InlineOptions> = {}): Promise<ChatRequest> {
  const { signal } = new AbortController();
  return inlineMedia(chat, { reach: reachLoopback(), waiting: { count: 0 }, signal, hold: () => undefined, ...changes });
}

/** Returns the error that the client sees. */
async function refusalOf(chat: ChatRequest, changes: Partial<InlineOptions> = {}): Promise<JsonObject> {
  const { errorName, status, message, details } = (await failureOf(inline(chat, changes))) as JsonObject & { details: JsonObject };
  return { error: errorName, status, message, param: details['param'] };
}

const PNG_URL = `data:image/png;base64,${PNG.toString('base64')}`;

describe('inlining the media of a request', () => {
  test('returns the same object when there are no URLs', async () => {
    const chats = [
      chatOf(),
      chatOf({ type: 'text', text: 'https://localhost/a.png' }),
      chatOf(image(PNG_URL)),
      chatOf(image('gs://bucket/a.png')),
      chatOf({ type: 'file', file: { file_id: 'file-1' } }),
      {
        model: 'm',
        messages: [
          { role: 'user', content: 'https://localhost/a.png' },
          { role: 'assistant', content: null },
        ],
      },
    ];
    for (const chat of chats) expect(await inline(chat)).toBe(chat);
  });

  test('fills in the content of every URL without changing the original object', async () => {
    const server = await serveMedia((socket, path) => {
      if (path === '/a.png') sendFile(socket, PNG);
      else if (path === '/a.pdf') sendFile(socket, PDF, 'application/pdf');
      else sendFile(socket, WAV, 'audio/x-wav');
    });
    const chat = chatOf(
      { type: 'text', text: 'Look' },
      image(`${server.origin}/a.png`),
      { type: 'image_url', image_url: `${server.origin}/a.png` },
      { type: 'file', file: { filename: 'a.pdf', file_data: `${server.origin}/a.pdf` } },
      { type: 'document_url', document_url: { url: `${server.origin}/a.pdf` } },
      { type: 'audio_url', audio_url: { url: `${server.origin}/a.wav` } },
      image(PNG_URL),
    );
    const before = structuredClone(chat);
    const pdf = `data:application/pdf;base64,${PDF.toString('base64')}`;
    expect(await inline(chat)).toEqual({
      ...chat,
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            image(PNG_URL),
            { type: 'image_url', image_url: PNG_URL },
            { type: 'file', file: { filename: 'a.pdf', file_data: pdf } },
            { type: 'document_url', document_url: { url: pdf } },
            { type: 'audio_url', audio_url: { url: `data:audio/wav;base64,${WAV.toString('base64')}` } },
            image(PNG_URL),
          ],
        },
      ],
    });
    expect(chat).toEqual(before);
    expect(server.requests).toHaveLength(3);
  });

  test('skips URLs that the provider fetches itself', async () => {
    const chat = chatOf({ type: 'video_url', video_url: { url: 'https://youtu.be/x' } });
    expect(await inline(chat, { fetchesItself: () => true })).toBe(chat);
  });

  test('refuses a request while too many others wait for media, and counts only those that still wait', async () => {
    const server = await serveMedia((socket) => sendFile(socket, PNG));
    const waiting = { count: WAITING_MAX };
    expect(await refusalOf(chatOf(image(server.origin)), { waiting })).toMatchObject({ error: 'too_many_concurrent_requests' });
    waiting.count -= 1;
    await inline(chatOf(image(server.origin)), { waiting });
    await failureOf(inline(chatOf(image('https://localhost:1/a.png')), { waiting }));
    expect(waiting.count).toBe(WAITING_MAX - 1);
    expect(server.requests).toHaveLength(1);
  });

  test('refuses too many URLs before fetching any', async () => {
    const reach = reachLoopback();
    const parts = Array.from({ length: ADDRESSES_MAX + 1 }, (_, index) => image(`https://localhost/${index}.png`));
    expect(await refusalOf(chatOf(...parts), { reach })).toMatchObject({ error: 'array_above_max_length', status: 400, param: 'messages' });
    expect(reach.asked).toEqual([]);
  });

  test('runs at most four fetches at once, and ends all of them at the first failure', async () => {
    const server = await serveMedia((socket, path) => {
      if (path === '/3') setTimeout(() => sendFile(socket, Buffer.from('no picture')), 100);
    });
    const parts = Array.from({ length: ADDRESSES_MAX }, (_, index) => image(`${server.origin}/${index}`));
    const refusal = refusalOf(chatOf(...parts));
    await until(() => server.requests.length === 4);
    expect(await refusal).toMatchObject({ error: 'invalid_image_format', param: 'messages[1].content[3].image_url.url' });
    await until(() => server.openConnections === 0);
    expect(server.connections).toBe(4);
  });

  test('ends with the call, for its reason', async () => {
    const server = await serveMedia(() => undefined);
    const ending = new AbortController();
    const failure = failureOf(inline(chatOf(image(server.origin)), { signal: ending.signal }));
    await until(() => server.requests.length === 1);
    ending.abort('gone');
    expect(await failure).toBe('gone');
    await until(() => server.openConnections === 0);
  });
});

describe('the size limit', () => {
  test('applies to one file', async () => {
    const server = await serveMedia((socket) => sendFile(socket, Buffer.concat([PNG, Buffer.alloc(FILE_BYTES_MAX)])));
    expect(await refusalOf(chatOf(image(server.origin)))).toEqual({
      error: 'request_too_large',
      status: 400,
      message: 'The media is too large: at most 10 MB are fetched from one URL, and 15 MB for one request.',
      param: 'messages[1].content[0].image_url.url',
    });
  });

  test.each([
    ['all files together', (origin: string) => [image(`${origin}/a`), image(`${origin}/b`)]],
    ['one file in several places', (origin: string) => [image(`${origin}/a`), image(`${origin}/a`)]],
  ])('applies to %s', async (_, partsAt) => {
    const server = await serveMedia((socket) => sendFile(socket, Buffer.concat([PNG, Buffer.alloc(FILE_BYTES_MAX - 1000)])));
    expect(await refusalOf(chatOf(...partsAt(server.origin)))).toMatchObject({ error: 'request_too_large', status: 400 });
    expect((await inline(chatOf(image(`${server.origin}/a`)))).messages).toHaveLength(2);
  });
});

describe('fetched content', () => {
  test.each([
    ['a picture of another format than announced', PNG, 'image/jpeg'],
    ['a picture with an unknown type', PNG, 'application/octet-stream'],
    ['a picture without a type', PNG, ''],
  ])('that is %s is recognised by its bytes', async (_, bytes, type) => {
    const server = await serveMedia((socket) => sendFile(socket, bytes, type));
    expect(await inline(chatOf(image(server.origin)))).toEqual(chatOf(image(PNG_URL)));
  });

  test.each<[string, Buffer, string, string]>([
    ['a page', Buffer.from('<!doctype html>'), 'text/html', 'image_url'],
    ['a page declared as a picture', Buffer.from('<!doctype html>'), 'image/png', 'image_url'],
    ['a picture declared as a page', PNG, 'text/html', 'image_url'],
    ['a picture that may contain scripts', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/svg+xml', 'image_url'],
    ['a document instead of a picture', PDF, 'application/pdf', 'image_url'],
    ['a document declared as a picture', PDF, 'image/png', 'image_url'],
    ['nothing', Buffer.alloc(0), 'image/png', 'image_url'],
    ['a picture instead of a document', PNG, 'image/png', 'document_url'],
    ['text', Buffer.from('AKIA-SECRET'), 'text/plain', 'document_url'],
    ['a picture instead of sound', PNG, 'image/png', 'audio_url'],
  ])('that is %s is refused, and not repeated', async (_, bytes, type, name) => {
    const server = await serveMedia((socket) => sendFile(socket, bytes, type));
    const refusal = await refusalOf(chatOf({ type: name, [name]: { url: server.origin } }));
    expect(refusal).toMatchObject({ status: 400, param: `messages[1].content[0].${name}.url` });
    expect(refusal['error']).toBe(name === 'image_url' ? 'invalid_image_format' : 'invalid_media_format');
    expect(String(refusal['message'])).not.toMatch(/doctype|SECRET|text\/|localhost/u);
  });

  test('that is text is refused as a file too', async () => {
    const server = await serveMedia((socket) => sendFile(socket, Buffer.from('AKIA-SECRET'), 'application/octet-stream'));
    expect(await refusalOf(chatOf({ type: 'file', file: { file_data: server.origin } }))).toMatchObject({
      error: 'invalid_media_format',
      param: 'messages[1].content[0].file.file_data',
    });
  });
});

describe('a media URL that cannot be fetched', () => {
  test('gets the same message whatever the reason, so that it reveals nothing about our network', async () => {
    const broken = await serveMedia((socket) => socket.end('HTTP/1.1 500 No\r\n\r\nstack trace'));
    const moved = await serveMedia((socket) => sendRedirect(socket, 'https://169.254.169.254/'));
    const forged = await serveMedia((socket) => sendFile(socket, PNG), { name: 'self-signed' });
    const cases: [string, Partial<InlineOptions>][] = [
      [broken.origin, {}],
      [moved.origin, {}],
      [forged.origin, {}],
      ['https://localhost:1/', {}],
      ['https://10.0.0.1/', {}],
      ['https://name.example/', { reach: reachLoopback({ resolve: async () => [] }) }],
      ['https://name.example/', { reach: reachLoopback({ resolve: async () => ['10.0.0.1'] }) }],
      ['https://name.example/', { reach: reachLoopback({ resolve: () => Promise.reject(new Error('resolver broke at 10.0.0.53')) }) }],
    ];
    const refusals = await Promise.all(cases.map(([url, changes]) => refusalOf(chatOf(image(url)), changes)));
    expect(new Set(refusals.map((refusal) => JSON.stringify(refusal)))).toEqual(
      new Set([
        JSON.stringify({
          error: 'invalid_image_url',
          status: 400,
          message:
            'The media could not be fetched. Its URL must be public, use https on the default port, and deliver the content within 5 seconds, after at most 3 redirects.',
          param: 'messages[1].content[0].image_url.url',
        }),
      ]),
    );
  });

  test.each([
    ['plain http', 'http://localhost/a.png', 'only from https:// URLs'],
    ['a password', 'https://user:secret@localhost/a.png', 'user name or a password'],
  ])('because of %s gets a message that says so, without repeating the URL', async (_, url, words) => {
    const refusal = await refusalOf(chatOf({ type: 'image_url', image_url: url }));
    expect(refusal).toMatchObject({ error: 'invalid_image_url', param: 'messages[1].content[0].image_url' });
    expect(refusal['message']).toContain(words);
    expect(refusal['message']).not.toContain('secret');
  });
});

function openCall(heldBytes: number): Call {
  const call = new Call('req_1', 0, new Request('http://gate'), { address: () => '' });
  return Object.assign(call, { heldBytes });
}

describe('fetched media', () => {
  const BYTES = 200_000;

  test('takes the room of a body until the answer ends, and is refused when there is no room', async () => {
    const server = await serveMedia((socket) => sendFile(socket, Buffer.concat([PNG, Buffer.alloc(BYTES)])));
    const call = openCall(200);
    const held = new HeldBytes();
    const gate = { reach: reachLoopback(), held, waitingForMedia: { count: 0 } };
    const dispatch = { call, chat: chatOf(image(server.origin), image(server.origin)) } as unknown as Dispatch;
    held.add(held.max - BYTES);
    for (const _ of ['the first route', 'the second']) {
      expect(await failureOf(withMedia(gate, dispatch, {}))).toMatchObject({ errorName: 'too_busy', details: { retryAfterSeconds: 1 } });
      expect([call.heldBytes, held.total]).toEqual([200, held.max - BYTES]);
    }
    expect(server.requests).toHaveLength(1);
    held.add(BYTES - held.max);
    call.media = undefined;
    const { chat } = await withMedia(gate, dispatch, {});
    expect(call.heldBytes).toBeWithin(JSON.stringify(chat).length - 500, JSON.stringify(chat).length + 500);
  });
});

test('no request makes inlining throw an error that is not meant for clients, or connect anywhere', async () => {
  const url = fc.oneof(
    fc.webUrl(),
    fc.string(),
    fc.constantFrom('https://[::1]/', 'https:\\\\localhost', 'HTTPS://127.0.0.1', 'https:', 'http:a'),
  );
  const part = fc.oneof(
    fc.record({ type: fc.constantFrom('image_url', 'video_url'), image_url: fc.oneof(url, fc.record({ url })), video_url: url }),
    fc.record({ type: fc.constant('file'), file: fc.oneof(fc.record({ file_data: url }), fc.jsonValue()) }),
    fc.jsonValue(),
  );
  const reach = reachLoopback({ allows: () => false });
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 5 }), async (content) => {
      const chat = { model: 'm', messages: [{ role: 'user', content }] };
      const result = await inline(chat, { reach }).catch((error: unknown) => error);
      return result === chat || (result as { status?: unknown }).status === 400;
    }),
  );
});
