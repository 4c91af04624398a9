import { describe, expect, test } from 'bun:test';
import { PUBLIC_INTERNET } from '../../src/http/fetch-media.ts';
import { postWebhook } from '../../src/http/post-webhook.ts';
import { cleanUpAfterEach, serve } from './client-setup.ts';
import { reachLoopback, sendRedirect, serveMedia } from './media-server.ts';

cleanUpAfterEach();

const posting = (url: string) => ({
  url,
  headers: { 'content-type': 'application/json', 'tollgate-signature': 't=1,v1=ab' },
  body: '{"ü":1}',
});

describe('a webhook', () => {
  test('gets the headers and the body over https', async () => {
    let received = '';
    const server = await serveMedia(() => undefined);
    await server.stop?.();
    const hook = await serveHook((text) => {
      received += text;
      return 'HTTP/1.1 204 No Content\r\n\r\n';
    });
    expect(await postWebhook(posting(`https://localhost:${hook.port}/in?x=1`), reachLoopback())).toBeUndefined();
    expect(received).toStartWith('POST /in?x=1 HTTP/1.1\r\n');
    expect(received).toContain('tollgate-signature: t=1,v1=ab');
    expect(received).toContain('content-length: 8');
    expect(received).toEndWith('{"ü":1}');
  });
});
