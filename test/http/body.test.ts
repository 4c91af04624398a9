import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { GatewayError } from '../../src/errors.ts';
import { BODY_BYTES_MAX, readJsonBody as readAtOnce, type JsonBody } from '../../src/http/body.ts';
import type { Incoming } from '../../src/http/incoming.ts';
import { COPIED_CHARACTERS_MIN } from '../../src/http/json-layout.ts';
import { until } from '../until.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const anyLength = (): void => undefined;
/** Reads a body whether it has arrived or not, and rejects where it is refused at once. */
const readJsonBody = (request: Incoming, onLength: (bytes: number) => void): Promise<JsonBody> =>
  Promise.try(() => readAtOnce(request, onLength));

describe('a JSON body', () => {
  test('with a known length is announced before it is read, and not read if that throws', async () => {
    const request = post('{"a":1}', { ...JSON_TYPE, 'content-length': '7' });
    const lengths: number[] = [];
    const reading = readJsonBody(request, (bytes) => {
      lengths.push(bytes);
      throw new Error('no room');
    });
    expect(await reading.catch(String)).toBe('Error: no room');
    expect([lengths, request.bodyUsed]).toEqual([[7], false]);
  });

  test('announced as long takes only as much room as has arrived', async () => {
    const body = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('{"a":')) });
    const headers = { ...JSON_TYPE, 'content-length': '20000000' };
    const lengths: number[] = [];
    readJsonBody(new Request('http://gate.test/', { method: 'POST', headers, body }), (bytes) => void lengths.push(bytes)).catch(
      () => undefined,
    );
    await until(() => lengths.length === 3);
    expect(lengths).toEqual([20_000_000, 0, 5]);
  });

  test('with a repeated length is read', async () => {
    const headers = { ...JSON_TYPE, 'content-length': '7, 7' };
    const lengths: number[] = [];
    const { value } = await readJsonBody(post('{"a":1}', headers), (bytes) => void lengths.push(bytes));
    expect([value, lengths]).toEqual([{ a: 1 }, [0, 7]]);
  });

  test('with an unknown length is reported as it grows', async () => {
    const parts = ['{"a":', '1', '}'];
    const body = new ReadableStream({
      pull(controller) {
        const part = parts.shift();
        if (part === undefined) controller.close();
        else controller.enqueue(new TextEncoder().encode(part));
      },
    });
    const lengths: number[] = [];
    await readJsonBody(new Request('http://gate.test/', { method: 'POST', headers: JSON_TYPE, body }), (bytes) => void lengths.push(bytes));
    expect(lengths).toEqual([0, 5, 6, 7]);
  });

  test.each(['identity', 'Identity'])('with the encoding %s is read', async (encoding) => {
    const { value } = await readJsonBody(post('{"a":1}', { ...JSON_TYPE, 'content-encoding': encoding }), anyLength);
    expect(value).toEqual({ a: 1 });
  });

  test.each(['application/json', 'application/json; charset=utf-8', 'APPLICATION/JSON', 'application/vnd.api+json'])(
    'with the type %s is read',
    async (type) => {
      expect((await readJsonBody(post('{"a":1}', { 'content-type': type }), anyLength)).value).toEqual({ a: 1 });
    },
  );

  test.each([
    ['text/plain', 'unsupported_content_type'],
    ['', 'unsupported_content_type'],
    ['application/x-www-form-urlencoded', 'unsupported_content_type'],
    ['application/jsonx', 'unsupported_content_type'],
  ])('with the type %p is refused', async (type, code) => {
    expect(await refusal(post('{}', { 'content-type': type }))).toBe(code);
  });

  test.each([
    ['empty', '', 'invalid_json'],
    ['only white space', '  \n', 'invalid_json'],
    ['truncated', '{"a":', 'invalid_json'],
    ['with a trailing comma', '{"a":1,}', 'invalid_json'],
    ['with a number that JSON does not allow', '{"a":NaN}', 'invalid_json'],
    ['nested 65 levels deep', '['.repeat(65) + ']'.repeat(65), 'nesting_too_deep'],
    ['nested a million levels deep', '{"a":'.repeat(1_000_000), 'nesting_too_deep'],
    ['an array of half a million numbers', `[${'1,'.repeat(500_000)}1]`, 'request_too_large'],
    ['an object of half a million fields', `{${'"a":1,'.repeat(500_000)}"a":1}`, 'request_too_large'],
  ])('that is %s is refused', async (_, text, code) => {
    expect(await refusal(post(text))).toBe(code);
  });

  test('nested 64 levels deep is read', async () => {
    expect((await readJsonBody(post('['.repeat(64) + ']'.repeat(64)), anyLength)).bytes).toBe(128);
  });

  test('may contain any number of brackets inside strings', async () => {
    const text = JSON.stringify({ a: `${'['.repeat(500)}\\"${'{'.repeat(500)}` });
    expect(await readJsonBody(post(text), anyLength)).toMatchObject({ text });
  });

  test('within the depth limit is parsed like the runtime parses it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json({ maxDepth: 6 }), async (text) => {
        expect((await readJsonBody(post(text), anyLength)).value).toEqual(JSON.parse(text));
      }),
      { numRuns: 200 },
    );
  });

  test.each([
    ['\\ud83d', '\ufffd'],
    ['cut off \\uD83D', 'cut off \ufffd'],
    ['\\udd25 the other half', '\ufffd the other half'],
    ['\\ud83d\\ud83d\\udd25\\udd25', '\ufffd🔥\ufffd'],
    ['\\ud83d\\n', '\ufffd\n'],
    ['\\ud83d\\\\udd25', '\ufffd\\udd25'],
    ['\\\\ud83d', '\\ud83d'],
    ['\\\\\\ud83d', '\\\ufffd'],
    ['\\\\ud83d\\udd25', '\\ud83d\ufffd'],
    ['\\"\\ud83d\\udd25\\"', '"🔥"'],
    ['\\ud7ff\\ue000', '\ud7ff\ue000'],
  ])('may contain half an emoji, which is replaced: %s', async (written, meant) => {
    // Long enough for the places of its fields to be noted.
    const sent = `{"a": "${written}", "b": ${' '.repeat(COPIED_CHARACTERS_MIN)}1}`;
    const { text, value, layout } = await readJsonBody(post(sent), anyLength);
    expect(value).toEqual({ a: meant, b: 1 });
    expect([JSON.parse(text), text.length, layout.fields.get('b')?.end]).toEqual([value, sent.length, sent.length - 1]);
  });

  test('with any text is read as well-formed', async () => {
    const anything = fc.oneof(
      fc.constantFrom('\\', '"', 'ud83d', '\n'),
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\ud83d', '\udd25'),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(anything), async (pieces) => {
        const text = pieces.join('');
        expect((await readJsonBody(post(JSON.stringify([text])), anyLength)).value).toEqual([text.toWellFormed()]);
      }),
      { numRuns: 500 },
    );
  });

  test.each(['{"a":"\\UD83D"}', '{"a":"\\ud83"}', '\\ud83d'])('that is not JSON does not become JSON by it: %s', async (text) => {
    expect(await refusal(post(text))).toBe('invalid_json');
  });

  test.each([[[0xff]], [[0x22, 0xc3, 0x28, 0x22]], [[0x22, 0xed, 0xa0, 0x80, 0x22]]])(
    'with the bytes %p is refused as invalid UTF-8',
    async (bytes) => {
      expect(await refusal(post(new Uint8Array(bytes)))).toBe('invalid_utf8');
    },
  );

  test('that is compressed is refused', async () => {
    expect(await refusal(post('{}', { ...JSON_TYPE, 'content-encoding': 'gzip' }))).toBe('unsupported_content_encoding');
  });

  test('in too many small chunks is refused, because each takes time and memory', async () => {
    expect((await readJsonBody(post(inBytes('{}'.padEnd(100_000))), anyLength)).bytes).toBe(100_000);
    expect(await refusal(post(inBytes('{}'.padEnd(100_001))))).toBe('invalid_value');
  });

  test('without a length is counted while it arrives', async () => {
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

/** Returns a body whose bytes arrive one at a time. */
function inBytes(text: string): ReadableStream {
  return new ReadableStream({
    start(controller) {
      for (const byte of new TextEncoder().encode(text)) controller.enqueue(Uint8Array.of(byte));
      controller.close();
    },
  });
}
