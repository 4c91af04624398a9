import { describe, expect, test } from 'bun:test';
import type { Socket } from 'node:net';
import { failureOf } from '../simulator/failure.ts';
import { until } from '../until.ts';
import { answer, BYTES_MAX, cleanUpAfterEach, makeClient, post, serve, textOf } from './client-setup.ts';
import type { RawServer } from './raw-server.ts';

/** Generous, because the test machine is busy. */
const AT_ONCE_MS = 1000;

cleanUpAfterEach();

describe('a request', () => {
  test('is sent with its path, host, headers and length in bytes', async () => {
    const server = await serve((socket) => socket.write(answer('ok')));
    const exchange = post(makeClient(), `${server.origin}/base/v1/chat?x=1`, '{"a":"ü"}', { authorization: 'Bearer x' });
    expect(await textOf(exchange)).toBe('ok');
    const [head, body] = (server.requests[0] ?? '').split('\r\n\r\n');
    expect(head?.split('\r\n')).toEqual([
      'POST /base/v1/chat?x=1 HTTP/1.1',
      `host: 127.0.0.1:${server.port}`,
      'accept-encoding: identity',
      'x-tollgate-hop: 1',
      'authorization: Bearer x',
      'content-length: 10',
    ]);
    expect(Buffer.from(body ?? '', 'latin1').toString('utf8')).toBe('{"a":"ü"}');
  });

  test('reaches an IPv6 address', async () => {
    const server = await serve((socket) => socket.write(answer('six')), { host: '::1' });
    expect(await textOf(post(makeClient(), `http://[::1]:${server.port}/v1`))).toBe('six');
    expect(server.requests[0]).toContain(`\r\nhost: [::1]:${server.port}\r\n`);
  });

  test.each([
    ['a new line in a value', { x: 'a\r\nhost: evil' }],
    ['a line feed in a value', { x: 'a\nb' }],
    ['a zero byte in a value', { x: 'a\0' }],
    ['non-ASCII letters in a value', { x: 'ü' }],
    ['a new line in a name', { 'x: y\r\nz': 'a' }],
    ['an empty name', { '': 'a' }],
  ])('with %s is refused, without repeating the value', async (_, headers: Record<string, string>) => {
    const server = await serve((socket) => socket.write(answer('ok')));
    expect(() => post(makeClient(), server.origin, '{}', headers)).toThrow('cannot be sent');
    expect(server.connections).toBe(0);
  });

  test('of 20 MB arrives complete at a server that reads slowly', async () => {
    const body = `"${'0123456789abcdef'.repeat(1_250_000)}"`;
    const server = await serve((socket) => socket.write(answer('ok')), { onConnection: readSlowly });
    expect(await textOf(post(makeClient(), server.origin, body))).toBe('ok');
    expect(server.requests[0]?.endsWith(`\r\n\r\n${body}`)).toBe(true);
  });

  test('to another protocol is refused', () => {
    expect(() => post(makeClient(), 'ftp://127.0.0.1/')).toThrow('http');
  });

  test('to a closed port fails at once', async () => {
    const failure = await failureOf(post(makeClient(), 'http://127.0.0.1:1/').head);
    expect(failure).toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('to an unknown host name fails', async () => {
    expect(await failureOf(post(makeClient(), 'http://nowhere.invalid/').head)).toBeInstanceOf(Error);
  });
});

describe('a response', () => {
  test.each<[string, string]>([
    ['its length', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhello'],
    ['its last chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n'],
  ])('that ends before %s is a failure', async (_, bytes) => {
    const server = await serve((socket) => socket.end(bytes));
    const exchange = post(makeClient(), server.origin);
    expect((await exchange.head).status).toBe(200);
    expect(await failureOf(exchange.text(BYTES_MAX))).toMatchObject({ name: 'ProtocolError' });
  });

  test('without a length ends with the connection', async () => {
    const server = await serve((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nhello'));
    expect(await textOf(post(makeClient(), server.origin))).toBe('hello');
  });

  test('without a length is a failure when the connection is reset', async () => {
    const server = await serve((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\nhello');
      setTimeout(() => socket.resetAndDestroy(), 20);
    });
    const exchange = post(makeClient(), server.origin);
    await exchange.head;
    expect(await failureOf(exchange.text(BYTES_MAX))).toBeInstanceOf(Error);
  });

  test('longer than allowed is abandoned, and the connection closed', async () => {
    const server = await serve((socket) => socket.write(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(1000)}`));
    const exchange = post(makeClient(), server.origin);
    await exchange.head;
    expect(await exchange.text(999)).toBeUndefined();
    await until(() => server.openConnections === 0);
  });

  test('can be read after it has arrived', async () => {
    const server = await serve((socket) => socket.end(answer('hello')));
    const exchange = post(makeClient(), server.origin);
    await exchange.head;
    await until(() => exchange.isOver);
    expect(await exchange.text(BYTES_MAX)).toBe('hello');
  });

  test('is decoded without its byte order mark', async () => {
    const server = await serve((socket) => socket.write(answer('\u{FEFF}{}')));
    expect(await textOf(post(makeClient(), server.origin))).toBe('{}');
  });
});

describe('an abort closes the connection at once', () => {
  test('before the head', async () => {
    const server = await serve(() => undefined);
    const exchange = post(makeClient(), server.origin);
    await until(() => server.requests.length === 1);
    exchange.abort('enough');
    expect(await failureOf(exchange.head)).toBe('enough');
    await until(() => server.openConnections === 0, AT_ONCE_MS);
  });

  test('during the body, and no more data is delivered', async () => {
    const server = await serve((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const timer = setInterval(() => socket.write('tick'), 1);
      socket.on('close', () => clearInterval(timer));
    });
    const exchange = post(makeClient(), server.origin);
    await exchange.head;
    let pieces = 0;
    const failure = new Promise((resolve) => {
      exchange.listen({ onBody: () => (pieces += 1), onEnd: () => resolve('ended'), onFailure: resolve });
    });
    await until(() => pieces > 3);
    exchange.abort('enough');
    const delivered = pieces;
    expect(await failure).toBe('enough');
    await until(() => server.openConnections === 0, AT_ONCE_MS);
    expect(pieces).toBe(delivered);
  });

  test('during the body while it is paused', async () => {
    const server = await serve((socket) => socket.write('HTTP/1.1 200 OK\r\n\r\nhello'));
    const exchange = post(makeClient(), server.origin);
    await exchange.head;
    exchange.pause();
    exchange.abort('enough');
    await until(() => server.openConnections === 0);
  });

  test('after the end has no effect', async () => {
    const server = await serve((socket) => socket.write(answer('ok')));
    const client = makeClient();
    const exchange = post(client, server.origin);
    expect(await textOf(exchange)).toBe('ok');
    exchange.abort('enough');
    expect(await textOf(post(client, server.origin))).toBe('ok');
    expect(server.connections).toBe(1);
  });
});

describe('a reader that pauses', () => {
  const MEGABYTE = Buffer.alloc(1_000_000, 'x');

  async function servePieces(count: number): Promise<{ server: RawServer; sent: () => number }> {
    let sent = 0;
    const server = await serve((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${count * MEGABYTE.length}\r\n\r\n`);
      const write = (): void => {
        while (sent < count) {
          sent += 1;
          if (!socket.write(MEGABYTE)) return void socket.once('drain', write);
        }
      };
      write();
    });
    return { server, sent: () => sent };
  }

  test('makes the server wait, and misses nothing', async () => {
    const { server, sent } = await servePieces(100);
    const client = makeClient();
    const exchange = post(client, server.origin);
    await exchange.head;
    let bytes = 0;
    const ended = new Promise<void>((resolve, reject) => {
      exchange.listen({ onBody: (_, start, end) => (bytes += end - start), onEnd: resolve, onFailure: reject });
    });
    exchange.pause();
    const before = bytes;
    await Bun.sleep(200);
    expect(bytes).toBe(before);
    expect(sent()).toBeLessThan(50);
    exchange.resume();
    await ended;
    expect(bytes).toBe(100 * MEGABYTE.length);
    expect((await post(client, server.origin).head).status).toBe(200);
  });

  test('may start reading late', async () => {
    const { server, sent } = await servePieces(100);
    const exchange = post(makeClient(), server.origin);
    await exchange.head;
    await Bun.sleep(200);
    expect(sent()).toBeLessThan(50);
    expect((await exchange.text(BYTES_MAX))?.length).toBe(100 * MEGABYTE.length);
  });
});

test('no garbage makes the client hang or crash', async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const random = randomFrom(seed);
  const words = [
    'HTTP/1.1 200 OK\r\n',
    'HTTP/1.1 ',
    '\r\n',
    '\r\n\r\n',
    'content-length: 3\r\n',
    'transfer-encoding: chunked\r\n',
    '3\r\nabc',
    '0',
    '\0',
    'ÿ',
  ];
  const server = await serve((socket) => {
    const count = 1 + Math.floor(random() * 12);
    socket.end(Buffer.from(Array.from({ length: count }, () => words[Math.floor(random() * words.length)]).join(''), 'latin1'));
  });
  const client = makeClient();
  let answered = 0;
  for (let index = 0; index < 300; index += 1) {
    const outcome = await Promise.race([
      textOf(post(client, server.origin)).then(
        () => 'answered',
        () => 'failed',
      ),
      Bun.sleep(2000).then(() => 'hung'),
    ]);
    if (outcome === 'hung') throw new Error(`hung at ${index} with seed ${seed}`);
    if (outcome === 'answered') answered += 1;
  }
  expect(answered).toBeLessThan(300);
});

function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function readSlowly(socket: Socket): void {
  socket.pause();
  setTimeout(() => socket.resume(), 100);
}
