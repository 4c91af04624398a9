import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { until } from '../until.ts';
import { GET, ServerStage, summarise } from './server-stage.ts';

const stage = new ServerStage();
const { server } = stage;
beforeEach(() => stage.reset());
afterAll(() => server.stop(true));

describe('a request', () => {
  test('is answered with a length, a date and the response’s headers', async () => {
    const text = await stage.exchange([GET]);
    expect(text).toMatch(
      /^HTTP\/1\.1 200 OK\r\ndate: \w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT\r\nx-route: \/echo\r\ncontent-length: 18\r\n\r\nGET http:\/\/a\/echo $/u,
    );
  });

  test('is the same wherever the network cuts it', async () => {
    const body = 'x'.repeat(30);
    const sized = `POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 30\r\n\r\n${body}`;
    const chunked = `POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\na\r\n${body.slice(20)}\r\n14;ext=1\r\n${body.slice(10)}\r\n0\r\nTrailer: x\r\n\r\n`;
    for (const request of [sized, chunked]) {
      for (let at = 1; at < request.length; at += 7)
        expect(summarise(await stage.exchange([request.slice(0, at), request.slice(at)], 20))).toEqual([`200 POST http://a/echo ${body}`]);
    }
  }, 60_000);

  test('is read whole when it arrives byte by byte, after an empty line too', async () => {
    const pieces = `\r\n${GET}`.split('');
    expect(summarise(await stage.exchange(pieces, 50))).toEqual(['200 GET http://a/echo ']);
  });

  test('may be one of several sent ahead, which are answered in order', async () => {
    const post = 'POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nhi';
    expect(summarise(await stage.exchange([post + GET + GET.replace('/echo', '/nowhere') + post]))).toEqual([
      '200 POST http://a/echo hi',
      '200 GET http://a/echo ',
      '404 nothing here',
      '200 POST http://a/echo hi',
    ]);
    const many = summarise(await stage.exchange([GET.replace('/echo', '/nowhere').repeat(5000)]));
    expect(many.length).toBe(5000);
  });

  test('sent ahead by the thousand does not keep other clients waiting', async () => {
    const crowd = stage.open();
    let received = '';
    crowd.on('data', (bytes) => (received += bytes.toString()));
    crowd.write(GET.replace('/echo', '/nowhere').repeat(5000));
    await until(() => received !== '');
    expect(summarise(await stage.exchange([GET], 0))).toEqual(['200 GET http://a/echo ']);
    expect(summarise(received).length).toBeLessThan(5000);
    crowd.destroy();
  });

  test('is not taken from a client that does not read the responses before it', async () => {
    const socket = stage.open().pause();
    const asked = 2000;
    for (let count = 0; count < asked; count += 100) socket.write(GET.replace('/echo', '/large').repeat(100));
    await until(() => stage.seen.length > 0);
    let taken = 0;
    while (taken < stage.seen.length) {
      taken = stage.seen.length;
      await Bun.sleep(200);
    }
    expect(taken).toBeLessThan(asked);
    socket.on('data', () => undefined).resume();
    await until(() => stage.seen.length >= asked);
    socket.destroy();
  });

  test('closes the connection when asked to, and with HTTP/1.0 unless asked not to', async () => {
    expect(await stage.exchange([GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')])).toContain('\r\nconnection: close\r\n');
    expect(await stage.exchange(['GET /echo HTTP/1.0\r\n\r\n'])).toEndWith('/echo <closed>');
    const kept = await stage.exchange(['GET /echo HTTP/1.0\r\nconnection: Keep-Alive\r\n\r\n']);
    expect(kept).toContain('\r\nconnection: keep-alive\r\n');
    expect(kept).not.toContain('<closed>');
  });

  test('without a handler of its own goes to the longest route that covers it', async () => {
    const text = await stage.exchange([GET.replace('/echo', '/standard/deep/er?q=1').replace('\r\n\r\n', '\r\nuser-agent: me\r\n\r\n')]);
    expect(text).toStartWith('HTTP/1.1 201 ');
    expect(text).toContain('set-cookie: a=1\r\nset-cookie: b=2\r\n');
    expect(text).toEndWith('{"method":"GET","url":"http://a/standard/deep/er?q=1","agent":"me"}');
  });

  test('for the head alone gets the length, but no body', async () => {
    const text = await stage.exchange([GET.replace('GET', 'HEAD')]);
    expect(text).toContain('content-length: 19\r\n');
    expect(text).toEndWith('\r\n\r\n');
    expect(summarise(await stage.exchange([GET.replace('GET /echo', 'HEAD /standard/x')]))).toEqual(['201 ']);
  });

  test('that waits for permission to send its body gets it when the body is wanted', async () => {
    const head = 'POST /echo HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n';
    expect(await stage.exchange([head, 'hi'])).toStartWith('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK');
    expect(await stage.exchange([head.replace('/echo', '/unread')])).toStartWith('HTTP/1.1 401 ');
    expect(await stage.exchange([head.replace('HTTP/1.1', 'HTTP/1.0'), 'hi'])).toStartWith('HTTP/1.1 200 OK');
  });

  test('whose handler fails gets the response for that', async () => {
    expect(summarise(await stage.exchange([GET.replace('/echo', '/fails')]))).toEqual(['500 failed']);
    expect(summarise(await stage.exchange([GET.replace('/echo', '/injects')]))).toEqual(['500 failed']);
  });

  test('whose body nobody reads is answered, and its connection goes on after the body', async () => {
    // Long enough that the connection is paused until somebody reads.
    const body = 'x'.repeat(8_000_000);
    const post = `POST /unread HTTP/1.1\r\nhost: a\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    expect(summarise(await stage.exchange([post + GET]))).toEqual(['401 no', '200 GET http://a/echo ']);
  });

  test('is aborted when its client leaves', async () => {
    const socket = stage.open();
    socket.write('POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 20\r\n\r\nhalf');
    await until(() => stage.seen.length > 0);
    expect(stage.seen[0]?.aborted).not.toBe(true);
    socket.destroy();
    await until(() => stage.seen[0]?.aborted === true);
  });
});

describe('bytes that are not a request', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['no request line', 'hello\r\n\r\n'],
    ['an unknown version', 'GET / HTTP/2.0\r\nhost: a\r\n\r\n'],
    ['a bare line feed', 'GET / HTTP/1.1\nhost: a\n\n'],
    ['a bare carriage return', 'GET / HTTP/1.1\r\nhost: a\rb\r\n\r\n'],
    ['no host', 'GET / HTTP/1.1\r\n\r\n'],
    ['two hosts', 'GET / HTTP/1.1\r\nhost: a\r\nhost: a\r\n\r\n'],
    ['a space before the colon', 'GET / HTTP/1.1\r\nhost : a\r\n\r\n'],
    ['a continued line', 'GET / HTTP/1.1\r\nhost: a\r\n  b\r\n\r\n'],
    ['empty lines', '\r\n\r\n'],
    ['a host that is none', 'GET /echo HTTP/1.1\r\nhost: a b\r\n\r\n'],
    ['a port that is none', 'GET /echo HTTP/1.1\r\nhost: a:123456\r\n\r\n'],
    ['a control character', 'GET / HTTP/1.1\r\nhost: a\r\nx: \u0001\r\n\r\n'],
    ['a null character', 'GET / HTTP/1.1\r\nhost: a\0\r\n\r\n'],
    ['a space in the URL', 'GET /a b HTTP/1.1\r\nhost: a\r\n\r\n'],
    ['a length and chunks', 'POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['two lengths', 'POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\ncontent-length: 3\r\n\r\nabc'],
    ['a negative length', 'POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: -3\r\n\r\nabc'],
    ['a length with a sign', 'POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: +3\r\n\r\nabc'],
    ['an unknown coding', 'POST /echo HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n'],
    ['chunks in HTTP/1.0', 'POST /echo HTTP/1.0\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a chunk without a size', 'POST /echo HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'],
    ['a chunk with more than a size', 'POST /echo HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n2 b\r\nhi\r\n0\r\n\r\n'],
    ['a trailer without a name', 'POST /echo HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n0\r\nno name\r\n\r\n'],
    ['long headers', `GET / HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(17_000)}\r\n\r\n`],
    ['long headers without an end', `GET / HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(17_000)}`],
    ['many headers', `GET / HTTP/1.1\r\nhost: a\r\n${'x: y\r\n'.repeat(101)}\r\n`],
    ['a long URL', `GET /${'y'.repeat(8200)} HTTP/1.1\r\nhost: a\r\n\r\n`],
  ];
  test.each(cases)('%s: are refused, and the connection is closed', async (_, bytes) => {
    const text = await stage.exchange([bytes]);
    expect(text).toStartWith('HTTP/1.1 400 Bad Request\r\n');
    expect(text).toContain('\r\nconnection: close\r\n');
    expect(text).toEndWith('<closed>');
  });

  test.each([
    ['for another server', 'CONNECT b:443', 'The URL is not valid'],
    ['for no server', 'GET mailto:b@c', 'The URL is not valid'],
    ['with a method that nobody knows', 'FOO /standard/x', 'The method is not supported'],
  ])('a request %s is refused', async (_, asked, problem) => {
    expect(summarise(await stage.exchange([`${asked} HTTP/1.1\r\nhost: a\r\n\r\n`]))).toEqual([`400 ${problem}`]);
  });

  test('are refused behind a request that was answered, too', async () => {
    expect(summarise(await stage.exchange([GET, 'GET /echo HTTP/1.1\r\nhost : a\r\n\r\n']))).toEqual([
      '200 GET http://a/echo ',
      '400 A header has no valid name<closed>',
    ]);
  });

  test('never become a second request', async () => {
    const smuggled =
      'POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /echo HTTP/1.1\r\nhost: a\r\n\r\n';
    expect(summarise((await stage.exchange([smuggled])).replace('<closed>', ''))).toEqual(['400 The length of the body is ambiguous']);
    expect(stage.seen.length).toBe(0);
  });
});
