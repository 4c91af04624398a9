import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { ProtocolError } from '../../src/http/protocol-error.ts';
import { ResponseParser } from '../../src/http/response-parser.ts';

const OK = 'HTTP/1.1 200 OK\r\n';
/** The headers that these tests look up. */
const READ = ['connection', 'content-type', 'retry-after', 'retry-after-ms', 'x-amzn-errortype'];

interface Reading {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly ends: number;
  readonly isReusable: boolean;
  readonly keepMs: number | undefined;
}

/** Returns the result of parsing these packets. With `isClosed`, the connection closes after the last one. */
function read(packets: readonly string[], isClosed = false): Reading {
  let status: number | undefined;
  let headers: Record<string, string> = {};
  let body = '';
  let ends = 0;
  const parser = new ResponseParser({
    onHead(head) {
      status = head.status;
      headers = Object.fromEntries(READ.flatMap((name) => [[name, head.headers.get(name)]].filter(([, value]) => value !== undefined)));
    },
    onBody: (bytes, start, end) => (body += bytes.toString('latin1', start, end)),
    onEnd: () => (ends += 1),
  });
  parser.begin();
  for (const packet of packets) parser.push(Buffer.from(packet, 'latin1'));
  if (isClosed) parser.close();
  return { status, headers, body, ends, isReusable: parser.isReusable, keepMs: parser.keepMs };
}

describe('a body ends', () => {
  test.each<[string, string, string]>([
    ['after its length', `${OK}Content-Length: 5\r\n\r\nhello`, 'hello'],
    ['at once when its length is zero', `${OK}content-length: 0\r\n\r\n`, ''],
    ['after its last chunk', `${OK}Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n`, 'hello'],
    ['after its last chunk, in upper case too', `${OK}transfer-encoding: CHUNKED\r\n\r\nA\r\n0123456789\r\n0\r\n\r\n`, '0123456789'],
    ['after the trailers', `${OK}transfer-encoding: chunked\r\n\r\n1;x=y\r\na\r\n0;z\r\nX-Sum: 1\r\nX-Other: 2\r\n\r\n`, 'a'],
    ['after the head of a 204', 'HTTP/1.1 204 No Content\r\n\r\n', ''],
    ['after the head of a 304', 'HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\n\r\n', ''],
    ['after interim responses', `HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\nHTTP/1.1 100\r\n\r\n${OK}content-length: 2\r\n\r\nhi`, 'hi'],
    ['at the length that is given twice', `${OK}content-length: 2, 2\r\nContent-Length: 2\r\n\r\nhi`, 'hi'],
  ])('%s', (_, text, body) => {
    expect(read([text])).toMatchObject({ body, ends: 1, isReusable: true });
  });

  test('with the connection when nothing else marks the end', () => {
    expect(read([`${OK}\r\nhel`, 'lo'], true)).toMatchObject({ body: 'hello', ends: 1, isReusable: false });
    expect(read([`${OK}\r\n`], true)).toMatchObject({ body: '', ends: 1 });
  });

  test('by its chunks when it also has a length, and the connection is not reused', () => {
    const text = `${OK}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n`;
    expect(read([text])).toMatchObject({ body: 'hi', ends: 1, isReusable: false });
  });
});

describe('a connection is not reused', () => {
  test.each([
    ['when the server says so', `${OK}connection: close\r\ncontent-length: 0\r\n\r\n`],
    ['when the server says so among other things', `${OK}Connection: x-other, Close\r\ncontent-length: 0\r\n\r\n`],
    ['after HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n'],
    ['when bytes follow a body with a length', `${OK}content-length: 1\r\n\r\nabc`],
    ['when bytes follow the last chunk', `${OK}transfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n`],
    ['when bytes follow a response without a body', 'HTTP/1.1 204 No Content\r\n\r\nx'],
  ])('%s', (_, text) => {
    expect(read([text])).toMatchObject({ ends: 1, isReusable: false });
  });

  test('when bytes arrive that belong to no request', () => {
    expect(() => read([`${OK}content-length: 1\r\n\r\na`, 'b'])).toThrow(ProtocolError);
  });

  test('for longer than the server says', () => {
    expect(read([`${OK}keep-alive: timeout=5, max=100\r\ncontent-length: 0\r\n\r\n`]).keepMs).toBe(5000);
  });
});

test('the headers that dialects read faults from are kept', () => {
  const text = `${OK}retry-after-ms: 1500\r\nx-amzn-ErrorType: ThrottlingException:http://x\r\ncontent-length: 0\r\n\r\n`;
  expect(read([text]).headers).toMatchObject({ 'retry-after-ms': '1500', 'x-amzn-errortype': 'ThrottlingException:http://x' });
});

test('headers are found in any case and with any white space, and joined where they repeat', () => {
  const text = `${OK}CONTENT-TYPE:text/event-stream\r\nRetry-After: \t 7 \r\nx-retry-after: 9\r\nConnection: a\r\nconnection: b\r\n\r\n`;
  expect(read([text]).headers).toEqual({ 'content-type': 'text/event-stream', 'retry-after': '7', connection: 'a, b' });
});

describe('invalid HTTP/1.1 is refused', () => {
  test.each<[string, string]>([
    ['no status line', 'hello\r\n\r\n'],
    ['another protocol', 'SSH-2.0-OpenSSH\r\n\r\n'],
    ['HTTP/2', 'HTTP/2 200\r\n\r\n'],
    ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
    ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
    ['a switch of protocols', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
    ['a header without a colon', `${OK}hello\r\n\r\n`],
    ['a header without a name', `${OK}: x\r\n\r\n`],
    ['a space before the colon', `${OK}content-length : 1\r\n\r\na`],
    ['a folded header', `${OK}x: a\r\n b\r\n\r\n`],
    ['a bare line feed', `${OK}x: a\nb: c\r\n\r\n`],
    ['a bare carriage return', `${OK}x: a\rb: c\r\n\r\n`],
    ['a zero byte', `${OK}x: a\0b\r\n\r\n`],
    ['two lengths', `${OK}content-length: 1\r\ncontent-length: 2\r\n\r\nab`],
    ['a negative length', `${OK}content-length: -1\r\n\r\n`],
    ['a length with a plus sign', `${OK}content-length: +1\r\n\r\na`],
    ['an empty length', `${OK}content-length: \r\n\r\n`],
    ['an enormous length', `${OK}content-length: 9999999999999999\r\n\r\n`],
    ['an unknown coding', `${OK}transfer-encoding: gzip, chunked\r\n\r\n`],
    ['chunked twice', `${OK}transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n`],
    ['a chunk without a size', `${OK}transfer-encoding: chunked\r\n\r\n\r\n`],
    ['a chunk whose size is not a number', `${OK}transfer-encoding: chunked\r\n\r\nxyz\r\n`],
    ['a chunk of a negative size', `${OK}transfer-encoding: chunked\r\n\r\n-1\r\n`],
    ['a chunk of an enormous size', `${OK}transfer-encoding: chunked\r\n\r\n123456789\r\n`],
    ['a chunk longer than its size', `${OK}transfer-encoding: chunked\r\n\r\n1\r\nab\r\n`],
    ['a chunk size that ends with a line feed only', `${OK}transfer-encoding: chunked\r\n\r\n1\na\r\n`],
    ['a protocol that is not HTTP, before its end', 'hello'],
    ['a first line that ends with a line feed only', 'HTTP/1.1 200 OK\n'],
    ['an endless head', `${OK}${'x: y\r\n'.repeat(12_000)}`],
    ['too many headers', `${OK}${'x: y\r\n'.repeat(201)}\r\n`],
    ['an endless extension', `${OK}transfer-encoding: chunked\r\n\r\n1;${'x'.repeat(5000)}`],
    ['endless trailers', `${OK}transfer-encoding: chunked\r\n\r\n0\r\n${'x: y\r\n'.repeat(4000)}`],
    ['endless interim responses', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(11)],
  ])('%s', (_, text) => {
    expect(() => read([text])).toThrow(ProtocolError);
    expect(() => read(text.split(''))).toThrow(ProtocolError);
  });

  test.each([
    ['in the head', 'HTTP/1.1 200 OK\r\ncont'],
    ['in a body with a length', `${OK}content-length: 5\r\n\r\nhell`],
    ['in a chunk', `${OK}transfer-encoding: chunked\r\n\r\n5\r\nhell`],
    ['before the last chunk', `${OK}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n`],
    ['before the end of the last chunk', `${OK}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n`],
  ])('a connection that closes %s', (_, text) => {
    expect(() => read([text], true)).toThrow('closed before');
  });
});

/** A well-formed response of any framing, as text, with its body. */
const responses = fc
  .record({
    interims: fc.integer({ min: 0, max: 2 }),
    framing: fc.constantFrom('length', 'chunks', 'close'),
    parts: fc.array(fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 40 }), { maxLength: 8 }),
    extension: fc.constantFrom('', ';a=b', ' ; "x"'),
    trailer: fc.constantFrom('', 'X-Sum: 1\r\n'),
  })
  .map(({ interims, framing, parts, extension, trailer }) => {
    const body = parts.join('');
    const head = `${'HTTP/1.1 102 Processing\r\nx: y\r\n\r\n'.repeat(interims)}${OK}content-type: text/plain\r\n`;
    if (framing === 'length') return { body, framing, text: `${head}content-length: ${body.length}\r\n\r\n${body}` };
    if (framing === 'close') return { body, framing, text: `${head}\r\n${body}` };
    const chunks = parts.map((part) => `${part.length.toString(16)}${extension}\r\n${part}\r\n`).join('');
    return { body, framing, text: `${head}transfer-encoding: chunked\r\n\r\n${chunks}0\r\n${trailer}\r\n` };
  });
const places = fc.array(fc.nat(), { maxLength: 30 });

function cut(text: string, at: readonly number[]): string[] {
  const edges = [...new Set([0, ...at.map((place) => place % (text.length + 1)), text.length])].toSorted((a, b) => a - b);
  return edges.slice(1).map((end, index) => text.slice(edges[index], end));
}

describe('any response', () => {
  test('is read the same however its bytes are split', () => {
    fc.assert(
      fc.property(responses, places, ({ text, body, framing }, at) => {
        const whole = read([text], framing === 'close');
        expect(whole).toMatchObject({ status: 200, body, ends: 1, isReusable: framing !== 'close' });
        expect(read(cut(text, at), framing === 'close')).toEqual(whole);
      }),
      { numRuns: 1000 },
    );
  });

  test('is read the same one byte at a time', () => {
    fc.assert(
      fc.property(responses, ({ text, body, framing }) => {
        expect(read(text.split(''), framing === 'close')).toMatchObject({ status: 200, body, ends: 1 });
      }),
      { numRuns: 200 },
    );
  });

  test('that is damaged is read or refused, and ends at most once', () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.string({ unit: 'binary-ascii', maxLength: 3 })), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(responses, damage, places, ({ text }, changes, at) => {
        let damaged = text;
        for (const [place, change] of changes) {
          const index = place % (damaged.length + 1);
          damaged = damaged.slice(0, index) + change + damaged.slice(index + change.length);
        }
        expectReadOrRefused(cut(damaged, at));
      }),
      { numRuns: 3000 },
    );
  });

  test('that is garbage is refused', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary-ascii', maxLength: 200 }), { maxLength: 6 }), (packets) => {
        expectReadOrRefused(packets);
      }),
      { numRuns: 2000 },
    );
  });
});

function expectReadOrRefused(packets: readonly string[]): void {
  try {
    expect(read(packets, true).ends).toBe(1);
  } catch (error) {
    expect(error).toBeInstanceOf(ProtocolError);
  }
}
