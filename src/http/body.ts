import { GatewayError } from '../errors.ts';
import { GatheredBytes } from './gathered-bytes.ts';
import type { Incoming } from './incoming.ts';
import { COPIED_CHARACTERS_MIN, JsonLayout } from './json-layout.ts';
import { replaceLoneSurrogates } from './lone-surrogates.ts';

/** The largest request body. Long conversations with images fit. */
export const BODY_BYTES_MAX = 20_000_000;
const BODY_READ_MS = 60_000;
/** Up to this length, the announced length of a body is trusted. */
const BELIEVED_BYTES_MAX = 1_000_000;
/** More than the longest body needs. Each part costs time during which no other request is served. */
const PARTS_MAX = 100_000;
const WATCH_INTERVAL_MS = 500;

/** Shared, because it keeps no state between bodies. */
const strictDecoder = new TextDecoder('utf-8', { fatal: true });

/** A request body: its text, its size on the wire, its layout, and its parsed value. */
export interface JsonBody {
  readonly text: string;
  readonly bytes: number;
  readonly layout: JsonLayout;
  readonly value: unknown;
}

/**
 * Reads a JSON request body: bounded, timed, strict UTF-8, not nested too deeply. `onLength` receives the announced length before the
 * body is read, and the length so far while a long or unannounced body arrives. It may throw to refuse the body. The body is returned at
 * once where it has arrived.
 */
export function readJsonBody(request: Incoming, onLength: (bytes: number) => void): JsonBody | Promise<JsonBody> {
  checkHeaders(request.headers);
  const length = readLength(request.headers.get('content-length'));
  if (length !== undefined && length > BODY_BYTES_MAX) throw tooLarge();
  const bytes = readBytes(request, length, onLength);
  return bytes instanceof Promise ? bytes.then(parseBody) : parseBody(bytes);
}

function parseBody(bytes: Uint8Array): JsonBody {
  replaceLoneSurrogates(bytes);
  const text = decodeUtf8(bytes);
  if (text.trim() === '') throw new GatewayError('invalid_json', 'The body is empty; it must be a JSON object.');
  const layout = new JsonLayout(text, text.length >= COPIED_CHARACTERS_MIN);
  try {
    return { text, bytes: bytes.length, layout, value: JSON.parse(text) };
  } catch (error) {
    // The parser's own message may repeat the text, which is the client's secret.
    throw new GatewayError('invalid_json', 'The body is not valid JSON. Check quotes, commas and brackets.', {
      cause: error,
    });
  }
}

function checkHeaders(headers: Incoming['headers']): void {
  const type = headers.get('content-type') ?? '';
  if (!/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type)) {
    throw new GatewayError('unsupported_content_type', "The body must be JSON: send the header 'Content-Type: application/json'.");
  }
  const encoding = headers.get('content-encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    throw new GatewayError(
      'unsupported_content_encoding',
      "Compressed request bodies are not accepted: send plain JSON, without 'Content-Encoding'.",
    );
  }
}

/** A body in transit. `fail` ends the wait for it. */
interface Reading {
  readonly endsAtMs: number;
  readonly fail: (error: GatewayError) => void;
}

/** One timer watches all bodies in transit: a timer for each would cost more than reading it. */
const readings = new Set<Reading>();
let watch: ReturnType<typeof setInterval> | undefined;

function readBytes(request: Incoming, length: number | undefined, onLength: (bytes: number) => void): Uint8Array | Promise<Uint8Array> {
  if (length !== undefined) onLength(length);
  // A long body takes its room as it arrives: announcing one must not keep others out.
  const isCounted = length === undefined || length > BELIEVED_BYTES_MAX;
  if (isCounted) onLength(0);
  // With a trusted length, the server makes sure that the body has it.
  const body = isCounted ? readCounted(request, onLength) : request.bytes();
  return body instanceof Promise ? inTime(body) : body;
}

/** Waits for a body, but not for ever. */
function inTime(body: Promise<Uint8Array>): Promise<Uint8Array> {
  watch ??= setInterval(failLate, WATCH_INTERVAL_MS).unref();
  return new Promise((resolve, reject) => {
    const reading: Reading = { endsAtMs: performance.now() + BODY_READ_MS, fail: reject };
    readings.add(reading);
    const finishWith =
      <Value>(settle: (value: Value) => void) =>
      (value: Value) => {
        readings.delete(reading);
        settle(value);
      };
    body.then(finishWith(resolve), finishWith(reject));
  });
}

/** Reads the header. A length that was sent twice arrives joined by a comma and counts as unknown. */
function readLength(text: string | null): number | undefined {
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined;
}

function failLate(): void {
  const nowMs = performance.now();
  for (const { endsAtMs, fail } of readings)
    if (nowMs >= endsAtMs) fail(new GatewayError('invalid_value', `The body did not arrive within ${BODY_READ_MS / 1000} seconds.`));
}

async function readCounted(request: Incoming, onLength: (bytes: number) => void): Promise<Uint8Array> {
  const gathered = new GatheredBytes();
  let length = 0;
  let parts = 0;
  if (request.body === null) return new Uint8Array();
  for await (const part of request.body) {
    length += part.length;
    parts += 1;
    if (length > BODY_BYTES_MAX) throw tooLarge();
    if (parts > PARTS_MAX) throw new GatewayError('invalid_value', 'The body arrives in too many small chunks. Send larger chunks.');
    onLength(length);
    gathered.add(part);
  }
  return gathered.take();
}

function tooLarge(): GatewayError {
  return new GatewayError(
    'request_too_large',
    `The body is larger than ${BODY_BYTES_MAX / 1_000_000} MB. Shorten the conversation or send images by URL.`,
  );
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return strictDecoder.decode(bytes);
  } catch (error) {
    throw new GatewayError('invalid_utf8', 'The body is not valid UTF-8.', { cause: error });
  }
}
