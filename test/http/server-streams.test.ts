import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { HeldBytes } from '../../src/http/held-bytes.ts';
import { startServer } from '../../src/http/server.ts';
import { until } from '../until.ts';
import { GET, HUGE_BYTES, type Pushed, ServerStage } from './server-stage.ts';

const stage = new ServerStage();
const { server } = stage;
beforeEach(() => stage.reset());
afterAll(() => server.stop(true));

describe('a stream', () => {
  const ASK = GET.replace('/echo', '/stream');

  async function openStream(request = ASK): Promise<{ socket: Socket; pushed: Pushed; text: () => string }> {
    const socket = stage.open();
    let received = '';
    socket.on('data', (bytes) => (received += bytes.toString()));
    socket.write(request);
    await until(() => stage.streams.length > 0 && received !== '');
    return { socket, pushed: stage.streams[0] as Pushed, text: () => received };
  }

  test('is sent in chunks as it is written, and the connection is used again', async () => {
    const { socket, pushed, text } = await openStream();
    expect(text()).toEndWith('transfer-encoding: chunked\r\n\r\n');
    pushed.stream.write('één');
    pushed.stream.writeBytes(Buffer.from('..0123456789abcdef..'), 2, 18);
    await until(() => text().endsWith('5\r\néén\r\n10\r\n0123456789abcdef\r\n'));
    pushed.stream.end('last');
    await until(() => text().endsWith('4\r\nlast\r\n0\r\n\r\n'));
    socket.write(GET);
    await until(() => text().endsWith('GET http://a/echo '));
    socket.destroy();
  });

  test('ends with its connection for a client of HTTP/1.0', async () => {
    const { pushed, socket, text } = await openStream('GET /stream HTTP/1.0\r\n\r\n');
    const closed = once(socket, 'close');
    pushed.stream.write('one');
    pushed.stream.end('two');
    await closed;
    expect(text()).toEndWith('\r\n\r\nonetwo');
    expect(text()).not.toContain('chunked');
  });

  test('learns that its client has left', async () => {
    const { socket, pushed } = await openStream();
    socket.destroy();
    await until(() => pushed.isGone);
    pushed.stream.write('nobody hears this');
    pushed.stream.end('');
  });

  test('learns when its client is slow, and when it has caught up', async () => {
    const { socket, pushed, text } = await openStream();
    socket.pause();
    const part = 'x'.repeat(100_000);
    let parts = 0;
    for (; !pushed.stream.isFull; parts += 1) pushed.stream.write(part);
    expect(pushed.drains).toBe(0);
    socket.resume();
    await until(() => pushed.drains > 0);
    expect(pushed.stream).toHaveProperty('isFull', false);
    pushed.stream.end('');
    await until(() => text().endsWith('0\r\n\r\n'));
    expect(text().split(part).length - 1).toBe(parts);
    socket.destroy();
  });
});

describe('a standard response', () => {
  test('in pieces arrives whole', async () => {
    const response = await fetch(`http://127.0.0.1:${server.port}/pieces`);
    expect(await response.text()).toBe('one two three');
  });

  test('that breaks does not look complete', async () => {
    const text = await stage.exchange([GET.replace('/echo', '/broken')]);
    expect(text).toContain('begun');
    expect(text).not.toContain('0\r\n\r\n');
    expect(text).toEndWith('<closed>');
  });
});

test('what a client has not read counts as held until it is read, or the client is gone', async () => {
  const [reader, leaver] = [0, 1].map(() => stage.open().pause());
  reader?.write('GET /huge HTTP/1.1\r\nhost: a\r\n\r\n');
  await until(() => stage.held.total > 0);
  leaver?.write('GET /huge HTTP/1.1\r\nhost: a\r\n\r\n');
  await until(() => stage.held.total > HUGE_BYTES);
  expect(stage.held.total).toBeLessThan(2 * HUGE_BYTES);
  leaver?.destroy();
  await until(() => stage.held.total <= HUGE_BYTES);
  reader?.resume();
  await until(() => stage.held.total === 0);
  reader?.destroy();
});

test('a long response arrives whole', async () => {
  const response = await fetch(`http://127.0.0.1:${server.port}/long`);
  expect((await response.text()).length).toBe(3_000_000);
});

test('a server that stops closes idle connections at once, and others after their response', async () => {
  let release: (() => void) | undefined;
  let isAsked = false;
  const held = new Promise<void>((resolve) => (release = resolve));
  const own = startServer({
    host: '127.0.0.1',
    port: 0,
    held: new HeldBytes(),
    routes: {
      '/*': async () => {
        isAsked = true;
        await held;
        return { status: 200, headers: {}, body: 'done' };
      },
    },
    onError: () => ({ status: 500, headers: {}, body: '' }),
    onMalformed: () => ({ status: 400, headers: {}, body: '' }),
  });
  const [idle, busy] = [0, 1].map(() => connect({ port: own.port, host: '127.0.0.1' }));
  await Promise.all([idle, busy].map((socket) => once(socket as Socket, 'connect')));
  let received = '';
  busy?.on('data', (bytes) => (received += bytes.toString()));
  idle?.resume();
  busy?.write(GET);
  await until(() => isAsked);
  const stopped = own.stop(false);
  await once(idle as Socket, 'close');
  release?.();
  await stopped;
  await until(() => received.endsWith('done'));
  expect(received).toContain('connection: close');
});
