import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { GatewayError } from '../../src/errors.ts';
import { BODY_BYTES_MAX, readJsonBody } from '../../src/http/body.ts';
import { until } from '../until.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const anyLength = (): void => undefined;

describe('a JSON body', () => {
  test('of a known length is told of before it is read, and not read where that throws', async () => {
    const request = post('{"a":1}', { ...JSON_TYPE, 'content-length': '7' });
    const told: number[] = [];
    const reading = readJsonBody(request, (bytes) => {
      told.push(bytes);
      throw new Error('no room');
    });
    expect(await reading.catch(String)).toBe('Error: no room');
    expect([told, request.bodyUsed]).toEqual([[7], false]);
  });

  test('that is announced as a long one takes no more room than what has come of it', async () => {
    const body = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('{"a":')) });
    const headers = { ...JSON_TYPE, 'content-length': '20000000' };
    const told: number[] = [];
    readJsonBody(new Request('http://gate.test/', { method: 'POST', headers, body }), (bytes) => void told.push(bytes)).catch(
      () => undefined,
    );
    await until(() => told.length === 3);
    expect(told).toEqual([20_000_000, 0, 5]);
  });

  test('whose length was sent twice is read', async () => {
    const headers = { ...JSON_TYPE, 'content-length': '7, 7' };
    const told: number[] = [];
    const { value } = await readJsonBody(post('{"a":1}', headers), (bytes) => void told.push(bytes));
    expect([value, told]).toEqual([{ a: 1 }, [0, 7]]);
  });

  test('of an unknown length is told of as it grows', async () => {
    const parts = ['{"a":', '1', '}'];
    const body = new ReadableStream({
      pull(controller) {
        const part = parts.shift();
        if (part === undefined) controller.close();
        else controller.enqueue(new TextEncoder().encode(part));
      },
    });
    const told: number[] = [];
    await readJsonBody(new Request('http://gate.test/', { method: 'POST', headers: JSON_TYPE, body }), (bytes) => void told.push(bytes));
    expect(told).toEqual([0, 5, 6, 7]);
  });

  test.each(['identity', 'Identity'])('in the encoding %s is read', async (encoding) => {
    const { value } = await readJsonBody(post('{"a":1}', { ...JSON_TYPE, 'content-encoding': encoding }), anyLength);
    expect(value).toEqual({ a: 1 });
  });

  test.each(['application/json', 'application/json; charset=utf-8', 'APPLICATION/JSON', 'application/vnd.api+json'])(
    'of type %s is read',
    async (type) => {
      expect((await readJsonBody(post('{"a":1}', { 'content-type': type }), anyLength)).value).toEqual({ a: 1 });
    },
  );

  test.each([
    ['text/plain', 'unsupported_content_type'],
    ['', 'unsupported_content_type'],
    ['application/x-www-form-urlencoded', 'unsupported_content_type'],
    ['application/jsonx', 'unsupported_content_type'],
  ])('of type %p is refused', async (type, code) => {
    expect(await refusal(post('{}', { 'content-type': type }))).toBe(code);
  });

  test.each([
    ['empty', '', 'invalid_json'],
    ['blank', '  \n', 'invalid_json'],
    ['cut', '{"a":', 'invalid_json'],
    ['with a trailing comma', '{"a":1,}', 'invalid_json'],
    ['with a number out of range that JSON has not', '{"a":NaN}', 'invalid_json'],
    ['65 deep', '['.repeat(65) + ']'.repeat(65), 'nesting_too_deep'],
    ['a million deep', '{"a":'.repeat(1_000_000), 'nesting_too_deep'],
    ['of half a million numbers', `[${'1,'.repeat(500_000)}1]`, 'request_too_large'],
    ['of half a million fields', `{${'"a":1,'.repeat(500_000)}"a":1}`, 'request_too_large'],
  ])('that is %s is refused', async (_, text, code) => {
    expect(await refusal(post(text))).toBe(code);
  });

  test('64 deep is read', async () => {
    expect((await readJsonBody(post('['.repeat(64) + ']'.repeat(64)), anyLength)).bytes).toBe(128);
  });

  test('brackets in texts do not count as depth', async () => {
    const text = JSON.stringify({ a: `${'['.repeat(500)}\\"${'{'.repeat(500)}` });
    expect(await readJsonBody(post(text), anyLength)).toMatchObject({ text });
  });

  test('any value of JSON that is not too deep is read as the runtime reads it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json({ maxDepth: 6 }), async (text) => {
        expect((await readJsonBody(post(text), anyLength)).value).toEqual(JSON.parse(text));
      }),
      { numRuns: 200 },
    );
  });

  test.each([[[0xff]], [[0x22, 0xc3, 0x28, 0x22]], [[0x22, 0xed, 0xa0, 0x80, 0x22]]])(
    'with the bytes %p is refused as no UTF-8',
    async (bytes) => {
      expect(await refusal(post(new Uint8Array(bytes)))).toBe('invalid_utf8');
    },
  );

  test('that is compressed is refused', async () => {
    expect(await refusal(post('{}', { ...JSON_TYPE, 'content-encoding': 'gzip' }))).toBe('unsupported_content_encoding');
  });

  test('of very many small chunks is refused, for each takes time and memory', async () => {
    expect((await readJsonBody(post(inBytes('{}'.padEnd(100_000))), anyLength)).bytes).toBe(100_000);
    expect(await refusal(post(inBytes('{}'.padEnd(100_001))))).toBe('invalid_value');
  });

  test('is counted while it arrives when it has no length', async () => {
    let sent = 0;
    const endless = new ReadableStream({
      pull(controller) {
        sent += 1_000_000;
        controller.enqueue(new Uint8Array(1_000_000).fill(0x20));
      },
    });
    expect(await refusal(post(endless))).toBe('request_too_large');
    expect(sent).toBeLessThan(BODY_BYTES_MAX + 5_000_000);
  });
});

function post(body: BodyInit, headers: Record<string, string> = JSON_TYPE): Request {
  return new Request('http://localhost/', { method: 'POST', body, headers });
}

async function refusal(request: Request): Promise<string> {
  try {
    await readJsonBody(request, anyLength);
  } catch (error) {
    if (error instanceof GatewayError) return error.errorName;
    throw error;
  }
  return 'accepted';
}

/** A body of which every byte comes by itself. */
function inBytes(text: string): ReadableStream {
  return new ReadableStream({
    start(controller) {
      for (const byte of new TextEncoder().encode(text)) controller.enqueue(Uint8Array.of(byte));
      controller.close();
    },
  });
}
