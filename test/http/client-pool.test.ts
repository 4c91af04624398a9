import { describe, expect, test } from 'bun:test';
import type { Socket } from 'node:net';
import type { Exchange } from '../../src/http/exchange.ts';
import { failureOf } from '../simulator/failure.ts';
import { until } from '../until.ts';
import { answer, cleanUpAfterEach, makeClient, post, serve, textOf } from './client-setup.ts';
import type { RawServer } from './raw-server.ts';

cleanUpAfterEach();

describe('a connection is reused', () => {
  test('for one request after the other, and once for each at a time', async () => {
    const server = await serve((socket, index) => setTimeout(() => socket.write(answer(`no ${index}`)), 10));
    const client = makeClient();
    for (let index = 0; index < 5; index += 1) expect(await textOf(post(client, server.origin))).toBe(`no ${index}`);
    expect(server.connections).toBe(1);
    await Promise.all(Array.from({ length: 4 }, () => textOf(post(client, server.origin))));
    expect(server.connections).toBe(4);
    await Promise.all(Array.from({ length: 4 }, () => textOf(post(client, server.origin))));
    expect(server.connections).toBe(4);
  });

  test('from within the end of the previous response', async () => {
    const server = await serve((socket) => socket.write(answer('ok')));
    const client = makeClient();
    const first = post(client, server.origin);
    await first.head;
    const second = await new Promise<Exchange>((resolve) => {
      first.listen({ onBody: () => undefined, onEnd: () => resolve(post(client, server.origin)), onFailure: () => undefined });
    });
    expect(await textOf(second)).toBe('ok');
    expect(server.connections).toBe(1);
  });

  test.each([
    ['announced that it would close', answer('ok', 'connection: close\r\n')],
    ['lives too short to be trusted', answer('ok', 'keep-alive: timeout=1\r\n')],
    ['sent more than one response', `${answer('ok')}HTTP/1.1 200 OK\r\n\r\n`],
    ['speaks HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok'],
  ])('but not if it %s', async (_, bytes) => {
    const server = await serve((socket) => socket.write(bytes));
    const client = makeClient();
    expect(await textOf(post(client, server.origin))).toBe('ok');
    await until(() => server.openConnections === 0);
    expect(await textOf(post(client, server.origin))).toBe('ok');
    expect(server.connections).toBe(2);
  });

  test('but not if the server sends data without a request', async () => {
    const server = await serve((socket) => {
      socket.write(answer('ok'));
      setTimeout(() => socket.write(answer('a second response')), 20);
    });
    const client = makeClient();
    expect(await textOf(post(client, server.origin))).toBe('ok');
    await until(() => server.openConnections === 0);
    expect(await textOf(post(client, server.origin))).toBe('ok');
  });

  test('but not if the request was answered before it was read', async () => {
    const server = await serve(() => undefined, { onConnection: answerUnread });
    expect(await textOf(post(makeClient(), server.origin, 'x'.repeat(20_000_000)))).toBe('too large');
  });

  test('but not if the server has closed it', async () => {
    const server = await serve((socket, index) => {
      socket.write(answer(`no ${index}`));
      setTimeout(() => socket.end(), 10);
    });
    const client = makeClient();
    expect(await textOf(post(client, server.origin))).toBe('no 0');
    await until(() => server.openConnections === 0);
    expect(await textOf(post(client, server.origin))).toBe('no 1');
    expect(server.requests).toHaveLength(2);
  });

  test('but not if it was idle for too long, and then it is closed', async () => {
    const server = await serve((socket) => socket.write(answer('ok')));
    const client = makeClient({ idleMs: 50 });
    await textOf(post(client, server.origin));
    expect(server.openConnections).toBe(1);
    await until(() => server.openConnections === 0);
  });

  test('until the client is closed', async () => {
    const server = await serve((socket) => socket.write(answer('ok')));
    const client = makeClient();
    await textOf(post(client, server.origin));
    client.close();
    await until(() => server.openConnections === 0);
  });
});

describe('when all connections to an origin are busy', () => {
  test('a request waits for the first that is free, and one too many fails like one that the provider turns away', async () => {
    const { server, answerNext } = await serveInTurn();
    const client = makeClient({ connectionsMax: 2 });
    const exchanges = Array.from({ length: 4 }, () => post(client, server.origin));
    expect(await failureOf(post(client, server.origin).head)).toMatchObject({
      errorName: 'provider_rate_limited',
      details: { retryAfterSeconds: 1 },
    });
    await until(() => server.requests.length === 2);
    for (let count = 3; count <= 4; count += 1) {
      answerNext();
      await until(() => server.requests.length === count);
    }
    answerNext();
    answerNext();
    for (const exchange of exchanges) expect(await textOf(exchange)).toBe('ok');
    expect(server.connections).toBe(2);
  });

  test('a request whose wait takes too long fails in the same way, and is never sent', async () => {
    const { server, answerNext } = await serveInTurn();
    const client = makeClient({ connectionsMax: 1 });
    const first = post(client, server.origin);
    const waiting = post(client, server.origin);
    waiting.abort(new Error('could not be reached'));
    expect(await failureOf(waiting.head)).toMatchObject({ errorName: 'provider_rate_limited' });
    await until(() => server.requests.length === 1);
    answerNext();
    expect(await textOf(first)).toBe('ok');
    const last = post(client, server.origin);
    await until(() => server.requests.length === 2);
    answerNext();
    expect(await textOf(last)).toBe('ok');
    expect(server.requests).toHaveLength(2);
  });

  test('the place of a connection that is lost or given up is free again', async () => {
    const { server, answerNext } = await serveInTurn();
    const client = makeClient({ connectionsMax: 1 });
    const opening = post(client, server.origin);
    const first = post(client, server.origin);
    opening.abort(new Error('enough'));
    expect(await failureOf(opening.head)).toEqual(new Error('enough'));
    await until(() => server.requests.length === 1);
    const second = post(client, server.origin);
    first.abort(new Error('enough'));
    expect(await failureOf(first.head)).toEqual(new Error('enough'));
    await until(() => server.requests.length === 2);
    answerNext();
    answerNext();
    expect(await textOf(second)).toBe('ok');
  });

  test('a request lost with its connection is sent again before others get its place', async () => {
    const server = await serveOnce((socket, index) => (index === 1 ? socket.end() : socket.write(answer(`no ${index}`))));
    const client = makeClient({ connectionsMax: 1 });
    await textOf(post(client, server.origin));
    const lost = post(client, server.origin);
    const waiting = post(client, server.origin);
    expect(await textOf(lost)).toBe('no 2');
    expect(await textOf(waiting)).toBe('no 3');
    expect(server.connections).toBe(2);
  });
});

describe('a request lost with a reused connection', () => {
  test.each<[string, (socket: Socket) => void]>([
    ['a close', (socket) => socket.end()],
    ['a reset', (socket) => socket.resetAndDestroy()],
  ])('by %s is sent once more, on a new connection', async (_, lose) => {
    const server = await serveOnce((socket, index) => (index === 1 ? lose(socket) : socket.write(answer('again'))));
    const client = makeClient();
    expect(await textOf(post(client, server.origin))).toBe('first');
    expect(await textOf(post(client, server.origin, '{"n":2}'))).toBe('again');
    expect(server.connections).toBe(2);
    expect(server.requests.slice(1).map((text) => text.slice(text.indexOf('{')))).toEqual(['{"n":2}', '{"n":2}']);
  });

  test('is not sent a third time', async () => {
    const server = await serveOnce((socket) => socket.end());
    const client = makeClient();
    await textOf(post(client, server.origin));
    await failureOf(post(client, server.origin).head);
    expect(server.requests).toHaveLength(3);
  });

  test('is not sent again once a byte of the response has arrived', async () => {
    const server = await serveOnce((socket) => socket.end('H'));
    const client = makeClient();
    await textOf(post(client, server.origin));
    await failureOf(post(client, server.origin).head);
    expect(server.requests).toHaveLength(2);
  });

  test('is not sent again when it was aborted', async () => {
    const server = await serveOnce(() => undefined);
    const client = makeClient();
    await textOf(post(client, server.origin));
    const exchange = post(client, server.origin);
    await until(() => server.requests.length === 2);
    exchange.abort('enough');
    expect(await failureOf(exchange.head)).toBe('enough');
    await Bun.sleep(30);
    expect(server.requests).toHaveLength(2);
  });

  test('is not sent again when the connection was new', async () => {
    const server = await serve((socket) => socket.end());
    await failureOf(post(makeClient(), server.origin).head);
    expect(server.requests).toHaveLength(1);
  });
});

function answerUnread(socket: Socket): void {
  socket.pause();
  socket.write(answer('too large', 'keep-alive: timeout=60\r\n'));
}

/** Answers the first request, and passes all later ones, on any connection, to `then`. */
function serveOnce(then: (socket: Socket, index: number) => void): Promise<RawServer> {
  return serve((socket, index) => (index === 0 ? socket.write(answer('first')) : then(socket, index)));
}

/** Answers a request only when its turn comes. */
async function serveInTurn(): Promise<{ readonly server: RawServer; readonly answerNext: () => void }> {
  const unanswered: Socket[] = [];
  const server = await serve((socket) => void unanswered.push(socket));
  return { server, answerNext: () => unanswered.shift()?.write(answer('ok')) };
}
