import { GatewayError } from '../errors.ts';
import { GatheredBytes } from './gathered-bytes.ts';
import { JsonLayout } from './json-layout.ts';

/** The largest request body: long conversations with images fit. */
export const BODY_BYTES_MAX = 20_000_000;
const BODY_READ_MS = 60_000;
/** Up to this length a body counts as it is announced. */
const BELIEVED_BYTES_MAX = 1_000_000;
/** Even the longest body has no need of more; each costs time in which nobody else is served. */
const PARTS_MAX = 100_000;
const WATCH_INTERVAL_MS = 500;

/** One for all: it keeps nothing from one body to the next. */
const strictDecoder = new TextDecoder('utf-8', { fatal: true });

/** A body, its size on the wire, how it is built, and what it parses to. */
export interface JsonBody {
  readonly text: string;
  readonly bytes: number;
  readonly layout: JsonLayout;
  readonly value: unknown;
}

/**
 * Reads a JSON request body: bounded, timed, strict UTF-8, not nested too deep. `onLength` hears how long it is before it is read, and
 * how long it has grown where that is much or not known; it may throw.
 */
export async function readJsonBody(request: Request, onLength: (bytes: number) => void): Promise<JsonBody> {
  checkHeaders(request.headers);
  const bytes = await readBytes(request, onLength);
  const text = decodeUtf8(bytes);
  if (text.trim() === '') throw new GatewayError('invalid_json', 'The body is empty; it must be a JSON object.');
  const layout = new JsonLayout(text);
  try {
    return { text, bytes: bytes.length, layout, value: JSON.parse(text) };
  } catch (error) {
    // The parser's own message may repeat the text, which is the caller's secret.
    throw new GatewayError('invalid_json', 'We could not parse the JSON body of your request. Check quotes, commas and brackets.', {
      cause: error,
    });
  }
}

function checkHeaders(headers: Headers): void {
  const type = headers.get('content-type') ?? '';
  if (!/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type)) {
    throw new GatewayError('unsupported_content_type', "The body must be JSON: send the header 'Content-Type: application/json'.");
  }
  const encoding = headers.get('content-encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    throw new GatewayError(
      'unsupported_content_encoding',
      "Compressed request bodies are not accepted: send the JSON as it is, without 'Content-Encoding'.",
    );
  }
  if (Number(headers.get('content-length') ?? 0) > BODY_BYTES_MAX) throw tooLarge();
}

/** A body on its way; `giveUp` ends the wait for it. */
interface Reading {
  readonly endsAtMs: number;
  readonly giveUp: (error: GatewayError) => void;
}

/** One timer looks at all bodies that are on their way: a timer for each would cost more than to read it. */
const readings = new Set<Reading>();
let watch: ReturnType<typeof setInterval> | undefined;

async function readBytes(request: Request, onLength: (bytes: number) => void): Promise<Uint8Array> {
  const length = readLength(request.headers.get('content-length'));
  if (length !== undefined) onLength(length);
  // A long body takes its room as it comes: who only announces one must not keep others out.
  const isCounted = length === undefined || length > BELIEVED_BYTES_MAX;
  if (isCounted) onLength(0);
  watch ??= setInterval(giveUpLate, WATCH_INTERVAL_MS).unref();
  return new Promise((resolve, reject) => {
    const reading: Reading = { endsAtMs: performance.now() + BODY_READ_MS, giveUp: reject };
    readings.add(reading);
    // With a length the runtime has checked the size.
    const body = isCounted ? readCounted(request, onLength) : request.bytes();
    const over =
      <Value>(settle: (value: Value) => void) =>
      (value: Value) => {
        readings.delete(reading);
        settle(value);
      };
    body.then(over(resolve), over(reject));
  });
}

/** A length that was sent twice comes joined, and is none. */
function readLength(text: string | null): number | undefined {
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined;
}

function giveUpLate(): void {
  const nowMs = performance.now();
  for (const { endsAtMs, giveUp } of readings)
    if (nowMs >= endsAtMs) giveUp(new GatewayError('invalid_value', `The body did not arrive within ${BODY_READ_MS / 1000} seconds.`));
}

async function readCounted(request: Request, onLength: (bytes: number) => void): Promise<Uint8Array> {
  const gathered = new GatheredBytes();
  let length = 0;
  let parts = 0;
  if (request.body === null) return new Uint8Array();
  for await (const part of request.body as ReadableStream<Uint8Array>) {
    length += part.length;
    parts += 1;
    if (length > BODY_BYTES_MAX) throw tooLarge();
    if (parts > PARTS_MAX) throw new GatewayError('invalid_value', 'The body comes in too many small chunks. Send more with each.');
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
