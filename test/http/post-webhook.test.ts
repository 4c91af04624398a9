import { describe, expect, spyOn, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { PUBLIC_INTERNET } from '../../src/http/fetch-media.ts';
import { postWebhook, type Posting } from '../../src/http/post-webhook.ts';
import { cleanUpAfterEach, serve } from './client-setup.ts';
import { reachLoopback } from './media-server.ts';
import type { RawServer } from './raw-server.ts';

cleanUpAfterEach();

const FOLDER = join(import.meta.dirname, 'certificates');

function postingTo(url: string): Posting {
  return { url, headers: { 'content-type': 'application/json', 'tollgate-signature': 't=1,v1=ab' }, body: '{"ü":1}' };
}

function serveHook(respond: (socket: Socket) => void, name = 'localhost'): Promise<RawServer> {
  const tls = { key: readFileSync(join(FOLDER, `${name}.key`)), cert: readFileSync(join(FOLDER, `${name}.pem`)) };
  return serve((socket) => respond(socket), { tls, host: '127.0.0.1' });
}

describe('a webhook', () => {
  test('receives the headers and the body over https', async () => {
    const hook = await serveHook((socket) => socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
    expect(await postWebhook(postingTo(`https://localhost:${hook.port}/in?x=1`), reachLoopback())).toBeUndefined();
    const [received = ''] = hook.requests;
    expect(received).toStartWith(`POST /in?x=1 HTTP/1.1\r\nhost: localhost:${hook.port}\r\n`);
    expect(received).toContain('tollgate-signature: t=1,v1=ab');
    expect(received).toContain('content-length: 8');
    expect(Buffer.from(received, 'latin1').toString('utf8')).toEndWith('{"ü":1}');
  });

  test.each([200, 201, 202])('that answers %p has received the message', async (status) => {
    const hook = await serveHook((socket) => socket.end(`HTTP/1.1 ${status} OK\r\ncontent-length: 2\r\n\r\nok`));
    expect(await postWebhook(postingTo(`https://localhost:${hook.port}/`), reachLoopback())).toBeUndefined();
  });

  test.each([301, 302, 307, 400, 404, 410, 500, 503])('that answers %p has failed, and redirects are not followed', async (status) => {
    const hook = await serveHook((socket) =>
      socket.end(`HTTP/1.1 ${status} No\r\nlocation: https://localhost/\r\ncontent-length: 0\r\n\r\n`),
    );
    expect(await postWebhook(postingTo(`https://localhost:${hook.port}/`), reachLoopback())).toBe(`The answer had status ${status}.`);
    expect(hook.connections).toBe(1);
  });

  test('whose lookup took all of the time is not connected to', async () => {
    const hook = await serveHook(() => undefined);
    using _ = spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort());
    expect(await postWebhook(postingTo(`https://localhost:${hook.port}/`), reachLoopback())).toBe('There was no answer within 10 seconds.');
    expect(hook.connections).toBe(0);
  });

  test('reveals nothing of its response but the status', async () => {
    const hook = await serveHook((socket) => socket.end('HTTP/1.1 500 No\r\ncontent-length: 6\r\n\r\nsecret'));
    expect(await postWebhook(postingTo(`https://localhost:${hook.port}/`), reachLoopback())).not.toContain('secret');
  });

  test('with the certificate of another host is not trusted, and receives nothing', async () => {
    const hook = await serveHook((socket) => socket.end('HTTP/1.1 204 No Content\r\n\r\n'), 'elsewhere');
    expect(await postWebhook(postingTo(`https://localhost:${hook.port}/`), reachLoopback())).toBe('The connection failed.');
    expect(hook.requests).toEqual([]);
  });

  test.each(['not http at all', ''])('that answers %p has failed', async (text) => {
    const hook = await serveHook((socket) => socket.end(text));
    expect(await postWebhook(postingTo(`https://localhost:${hook.port}/`), reachLoopback())).toBe('The connection failed.');
  });

  test('is tried at its next address only if it was not reached at the first', async () => {
    const answers = ['HTTP/1.1 204 No Content\r\n\r\n'];
    const hook = await serveHook((socket) => socket.end(answers.shift() ?? ''));
    const reach = reachLoopback({ resolve: async () => ['127.0.0.3', '127.0.0.1', '127.0.0.1'], allows: () => true });
    expect(await postWebhook(postingTo(`https://localhost:${hook.port}/`), reach)).toBeUndefined();
    expect(await postWebhook(postingTo(`https://localhost:${hook.port}/`), reach)).toBe('The connection failed.');
    expect(hook.requests).toHaveLength(2);
  });

  test('at a closed port has failed', async () => {
    expect(await postWebhook(postingTo('https://localhost:9/'), reachLoopback())).toBe('The connection failed.');
  });

  test('whose name cannot be resolved has failed', async () => {
    const reach = reachLoopback({ resolve: async () => [] });
    expect(await postWebhook(postingTo('https://nowhere.example/'), reach)).toBe('The host name could not be resolved.');
  });

  test.each([
    'http://example.com/',
    'https://user:password@example.com/',
    'ftp://example.com/',
    'not an address',
    `https://example.com/${'x'.repeat(3000)}`,
  ])('must not be at %p', async (url) => {
    expect(await postWebhook(postingTo(url), reachLoopback())).toBe('The address must begin with https:// and have no password.');
  });

  test.each([
    'https://127.0.0.1/',
    'https://10.0.0.1/',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[fd00::1]/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://1.1.1.1:8443/',
  ])('cannot be at the internal address %p', async (url) => {
    expect(await postWebhook(postingTo(url), PUBLIC_INTERNET)).toBe('The address is not on the public internet, at port 443.');
  });

  test('whose name has a public and a private address is refused', async () => {
    const reach = { ...PUBLIC_INTERNET, resolve: async () => ['1.1.1.1', '10.0.0.1'] };
    expect(await postWebhook(postingTo('https://mixed.example/'), reach)).toBe('The address is not on the public internet, at port 443.');
  });
});
