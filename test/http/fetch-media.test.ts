import { describe, expect, test } from 'bun:test';
import type { TLSSocket } from 'node:tls';
import { fetchMedia, findAddresses, PUBLIC_INTERNET, type FetchOptions, type Reach } from '../../src/http/fetch-media.ts';
import { failureOf } from '../simulator/failure.ts';
import { until } from '../until.ts';
import { cleanUpAfterEach, serve } from './client-setup.ts';
import { PNG, reachLoopback, sendFile, sendRedirect, serveMedia } from './media-server.ts';

cleanUpAfterEach();

const BYTES_MAX = 100_000;

function optionsWith(changes: Partial<FetchOptions> = {}): FetchOptions {
  return {
    reach: reachLoopback(),
    signal: new AbortController().signal,
    bytesMax: BYTES_MAX,
    isWanted: () => true,
    onBytes: () => undefined,
    ...changes,
  };
}

/** Returns the code of the failure that a fetch ends with. */
async function faultOf(url: string, changes: Partial<FetchOptions> = {}): Promise<unknown> {
  const failure = await failureOf(fetchMedia(url, optionsWith(changes)));
  return (failure as { code?: unknown }).code ?? failure;
}

function withoutAuthority(): Reach {
  const { ca: _, ...reach } = reachLoopback();
  return reach;
}

describe('fetched content', () => {
  test('is requested by host name, with no more headers than needed', async () => {
    let name: unknown;
    const server = await serveMedia((socket) => {
      name = (socket as TLSSocket).servername;
      sendFile(socket, PNG, 'image/png; charset=x');
    });
    const got = await fetchMedia(`${server.origin}/a%20b.png?x=%0D%0A&y=ü#part`, optionsWith());
    expect(got).toEqual({ type: 'content', bytes: PNG, contentType: 'image/png; charset=x' });
    expect(name).toBe('localhost');
    const [line, ...headers] = (server.requests[0] ?? '').trimEnd().split('\r\n');
    expect(line).toBe('GET /a%20b.png?x=%0D%0A&y=%C3%BC HTTP/1.1');
    expect(headers.map((header) => header.split(':', 1)[0])).toEqual(['host', 'user-agent', 'accept', 'accept-encoding', 'connection']);
    expect(headers).toContain(`host: localhost:${server.port}`);
    await until(() => server.openConnections === 0);
  });

  test.each([
    ['in chunks', 'transfer-encoding: chunked', `${PNG.length.toString(16)}\r\n${PNG.toString('latin1')}\r\n0\r\n\r\n`],
    ['until the connection closes', 'x: y', PNG.toString('latin1')],
  ])('may arrive %s', async (_, header, body) => {
    const server = await serveMedia((socket) => socket.end(`HTTP/1.1 200 OK\r\n${header}\r\n\r\n${body}`, 'latin1'));
    expect((await fetchMedia(server.origin, optionsWith())).bytes).toEqual(PNG);
  });

  test.each([
    ['another status', 'HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n', 'STATUS'],
    ['a partial response', 'HTTP/1.1 206 Partial Content\r\ncontent-length: 1\r\n\r\nx', 'STATUS'],
    ['a redirect without a location', 'HTTP/1.1 302 Found\r\ncontent-length: 0\r\n\r\n', 'STATUS'],
    ['a compressed body', 'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 1\r\n\r\nx', 'ENCODING'],
    ['a length beyond the limit', `HTTP/1.1 200 OK\r\ncontent-length: ${BYTES_MAX + 1}\r\n\r\n`, 'TOO_LARGE'],
    ['not HTTP', 'SSH-2.0-OpenSSH_9.6\r\n\r\n', 'PROTOCOL'],
    ['shorter than announced', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nshort', 'PROTOCOL'],
    ['nothing', '', 'PROTOCOL'],
  ])('is refused when it is %s', async (_, response, code) => {
    const server = await serveMedia((socket) => socket.end(response));
    expect(await faultOf(server.origin)).toBe(code);
    await until(() => server.openConnections === 0);
  });

  test('is refused as soon as it exceeds the limit, announced or not', async () => {
    let sent = 0;
    const server = await serveMedia((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const timer = setInterval(() => {
        socket.write(Buffer.alloc(20_000));
        sent += 20_000;
      }, 1);
      socket.on('close', () => clearInterval(timer));
    });
    expect(await faultOf(server.origin)).toBe('TOO_LARGE');
    await until(() => server.openConnections === 0);
    expect(sent).toBeLessThan(20 * BYTES_MAX);
  });

  test('is refused before its body when its type is not wanted', async () => {
    const server = await serveMedia(
      (socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 50\r\n\r\n'),
    );
    expect(await faultOf(server.origin, { isWanted: (type) => type.startsWith('image/') })).toBe('TYPE');
    await until(() => server.openConnections === 0);
  });

  test('is abandoned when it takes too long, even if data keeps arriving', async () => {
    const server = await serveMedia((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 50000\r\n\r\n');
      const timer = setInterval(() => socket.write('x'), 50);
      socket.on('close', () => clearInterval(timer));
    });
    const beganAtMs = performance.now();
    expect(await faultOf(server.origin)).toBe('TIMEOUT');
    expect(performance.now() - beganAtMs).toBeWithin(4500, 10_000);
    await until(() => server.openConnections === 0);
  });

  test('is abandoned when the client has left', async () => {
    const server = await serveMedia((socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 50000\r\n\r\n'));
    const ending = new AbortController();
    const failure = failureOf(fetchMedia(server.origin, optionsWith({ signal: ending.signal })));
    await until(() => server.requests.length === 1);
    ending.abort('gone');
    expect(await failure).toBe('gone');
    await until(() => server.openConnections === 0);
  });
});

describe('a media URL', () => {
  test.each([
    ['http', 'http://localhost/a.png', 'NOT_HTTPS'],
    ['a file', 'file:///etc/passwd', 'NOT_HTTPS'],
    ['a user', 'https://user@localhost/a.png', 'CREDENTIALS'],
    ['a password', 'https://:secret@localhost/a.png', 'CREDENTIALS'],
    ['no host', 'https://', 'ADDRESS'],
    ['an invalid host', 'https://a b/', 'ADDRESS'],
    ['endless length', `https://localhost/${'a'.repeat(5000)}`, 'ADDRESS'],
  ])('with %s is refused without a lookup', async (_, url, code) => {
    const reach = reachLoopback();
    expect(await faultOf(url, { reach })).toBe(code);
    expect(reach.asked).toEqual([]);
  });

  test.each([
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0177.0.0.1/',
    'https://0x7f.1/',
    'https://127.1/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://169.254.169.254/latest/meta-data/',
    'https://[fd00:ec2::254]/',
    'https://0.0.0.0/',
    'https://10.0.0.1/',
    'https://8.8.8.8:8443/',
    'https://8.8.8.8:80/',
  ])('%s is not on the public internet', async (url) => {
    expect(await faultOf(url, { reach: PUBLIC_INTERNET })).toBe('ADDRESS_REFUSED');
  });

  test('is refused when one of the addresses of its name is not public', async () => {
    const reach = { ...PUBLIC_INTERNET, resolve: async () => ['93.184.215.14', '2606:2800::1', '127.0.0.1'] };
    expect(await faultOf('https://media.example/a.png', { reach })).toBe('ADDRESS_REFUSED');
  });

  test('is refused when its name has no address', async () => {
    expect(await faultOf('https://media.example/a.png', { reach: reachLoopback({ resolve: async () => [] }) })).toBe('NO_ADDRESS');
  });

  test('is looked up once: a name that changes afterwards leads nowhere else', async () => {
    const inside = await serveMedia((socket) => sendFile(socket, Buffer.from('secret')), { host: '127.0.0.2' });
    const answers = [['127.0.0.1'], ['127.0.0.2'], ['127.0.0.2']];
    const asked: string[] = [];
    const reach = reachLoopback({
      resolve: async (host) => {
        asked.push(host);
        return answers.shift() ?? [];
      },
    });
    // Nothing listens on this port at the checked address, so a second lookup would be tempting.
    expect(await faultOf(`https://localhost:${inside.port}/a.png`, { reach })).toBe('UNCONNECTED');
    expect(asked).toEqual(['localhost']);
    expect(await faultOf(`https://localhost:${inside.port}/a.png`, { reach })).toBe('ADDRESS_REFUSED');
    expect(inside.connections).toBe(0);
  });

  test('is tried at the next checked address when the first does not respond', async () => {
    const server = await serveMedia((socket) => sendFile(socket, PNG));
    const reach = reachLoopback({ resolve: async () => ['127.0.0.3', '127.0.0.1'], allows: () => true });
    expect((await fetchMedia(server.origin, optionsWith({ reach }))).bytes).toEqual(PNG);
  });

  test('is tried over IPv6 too, however many IPv4 addresses its name has', async () => {
    const reach = { ...PUBLIC_INTERNET, resolve: async () => ['1.1.1.1', '1.1.1.2', '1.1.1.3', '2606:4700::1', '2606:4700::2'] };
    const addresses = await findAddresses(new URL('https://media.example/a.png'), optionsWith({ reach }));
    expect(addresses).toEqual(['1.1.1.1', '2606:4700::1', '1.1.1.2', '2606:4700::2', '1.1.1.3']);
  });

  test.each([
    ['for another name', 'elsewhere', reachLoopback()],
    ['self-signed', 'self-signed', reachLoopback()],
    ['from an unknown authority', 'localhost', withoutAuthority()],
  ])('with a certificate that is %s gets no request', async (_, name, reach) => {
    const server = await serveMedia((socket) => sendFile(socket, PNG), { name });
    expect(await faultOf(`https://localhost:${server.port}/`, { reach })).toBe('UNCONNECTED');
    expect(server.requests).toEqual([]);
    await until(() => server.openConnections === 0);
  });

  test('is abandoned after two seconds when the server never speaks TLS', async () => {
    const server = await serve(() => undefined);
    const beganAtMs = performance.now();
    expect(await faultOf(`https://localhost:${server.port}/`)).toBe('UNCONNECTED');
    expect(performance.now() - beganAtMs).toBeWithin(1900, 4500);
    await until(() => server.openConnections === 0);
  });

  test('is not fetched through a proxy of the environment', async () => {
    const proxy = await serve((socket) => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'));
    const server = await serveMedia((socket) => sendFile(socket, PNG));
    const before = process.env['HTTPS_PROXY'];
    process.env['HTTPS_PROXY'] = proxy.origin;
    try {
      expect((await fetchMedia(server.origin, optionsWith())).bytes).toEqual(PNG);
    } finally {
      if (before === undefined) delete process.env['HTTPS_PROXY'];
      else process.env['HTTPS_PROXY'] = before;
    }
    expect(proxy.connections).toBe(0);
  });
});

describe('a redirect', () => {
  test.each([301, 302, 303, 307, 308])('with status %i is followed, and its host looked up again', async (status) => {
    const there = await serveMedia((socket) => sendFile(socket, PNG), { name: 'elsewhere' });
    const here = await serveMedia((socket, path) =>
      path === '/a' ? sendRedirect(socket, '/b', status) : sendRedirect(socket, `https://elsewhere.example:${there.port}/c`, status),
    );
    const reach = reachLoopback();
    expect((await fetchMedia(`${here.origin}/a`, optionsWith({ reach }))).bytes).toEqual(PNG);
    expect(reach.asked).toEqual(['localhost', 'localhost', 'elsewhere.example']);
    expect(there.requests[0]).toStartWith('GET /c ');
  });

  test.each([
    ['to cloud metadata', 'https://169.254.169.254/latest/meta-data/', 'ADDRESS_REFUSED'],
    ['to a disguised private address', 'https://[::ffff:10.0.0.1]/', 'ADDRESS_REFUSED'],
    ['to http', 'http://localhost/', 'NOT_HTTPS'],
    ['to a file', 'file:///etc/passwd', 'NOT_HTTPS'],
    ['with credentials', 'https://a:b@localhost/', 'CREDENTIALS'],
    ['to itself', '/', 'REDIRECTS'],
  ])('%s is refused', async (_, location, code) => {
    const server = await serveMedia((socket) => sendRedirect(socket, location));
    expect(await faultOf(`${server.origin}/`)).toBe(code);
    expect(server.requests.length).toBeLessThanOrEqual(4);
  });

  test('to a name that has moved to a private address is refused', async () => {
    const answers = [['127.0.0.1'], ['127.0.0.2']];
    const server = await serveMedia((socket) => sendRedirect(socket, '/again'));
    expect(await faultOf(server.origin, { reach: reachLoopback({ resolve: async () => answers.shift() ?? [] }) })).toBe('ADDRESS_REFUSED');
    expect(server.requests).toHaveLength(1);
  });
});

test('an unknown name has no address, and a client that leaves does not wait for the lookup', async () => {
  const ending = new AbortController();
  setTimeout(() => ending.abort('gone'), 50);
  const beganAtMs = performance.now();
  const fault = await faultOf('https://name.invalid/', { reach: PUBLIC_INTERNET, signal: ending.signal });
  expect(['NO_ADDRESS', 'gone']).toContain(String(fault));
  expect(performance.now() - beganAtMs).toBeLessThan(1000);
});
