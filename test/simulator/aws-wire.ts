import { createHash, createHmac } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** Writes one message of AWS's binary event stream. Implemented from its specification, not with the package that reads it. */
export function encodeMessage(headers: Readonly<Record<string, string>>, payload: string): Uint8Array {
  const headerBytes = Buffer.concat(Object.entries(headers).map(([name, value]) => encodeHeader(name, value)));
  const body = Buffer.from(payload);
  const total = 12 + headerBytes.length + body.length + 4;
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(total, 0);
  prelude.writeUInt32BE(headerBytes.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const message = Buffer.concat([prelude, headerBytes, body]);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(message), 0);
  return new Uint8Array(Buffer.concat([message, checksum]));
}

/** Writes an event of ConverseStream, with the padding that hides its length. */
export function encodeEvent(type: string, payload: object): Uint8Array {
  const headers = { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' };
  return encodeMessage(headers, JSON.stringify({ ...payload, p: 'abcdefghijkl' }));
}

/** Writes an exception inside a stream. */
export function encodeException(type: string, message: string): Uint8Array {
  const headers = { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' };
  return encodeMessage(headers, JSON.stringify({ message }));
}

function encodeHeader(name: string, value: string): Buffer {
  const [key, text] = [Buffer.from(name), Buffer.from(value)];
  const length = Buffer.alloc(2);
  length.writeUInt16BE(text.length, 0);
  return Buffer.concat([Buffer.of(key.length), key, Buffer.of(7), length, text]);
}

/** The credentials AWS knows. */
export interface Signer {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly region: string;
}

/** Checks a Signature Version 4, again from its specification. Returns the complaint, if any. */
export function checkSignature(request: Request, body: string, signer: Signer): string | undefined {
  const { headers } = request;
  const pattern = /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=(\w+)$/u;
  const match = pattern.exec(headers.get('authorization') ?? '');
  if (match === null) return 'Missing Authentication Token';
  const [, keyId = '', date = '', region = '', service = '', signedHeaders = '', signature = ''] = match;
  if (keyId !== signer.accessKeyId) return 'The security token included in the request is invalid.';
  if (region !== signer.region || service !== 'bedrock') return `Credential should be scoped to a valid region and service.`;
  if ((headers.get('x-amz-security-token') ?? undefined) !== signer.sessionToken) return 'The security token is not the session’s.';
  for (const name of ['host', 'x-amz-date']) if (!signedHeaders.split(';').includes(name)) return `'${name}' must be signed.`;
  const canonical = [
    request.method,
    // Each segment is encoded again, although it arrives encoded.
    new URL(request.url).pathname.split('/').map(encodeStrictly).join('/'),
    '',
    ...signedHeaders.split(';').map((name) => `${name}:${(headers.get(name) ?? '').trim()}`),
    '',
    signedHeaders,
    hash(body),
  ].join('\n');
  const time = headers.get('x-amz-date') ?? '';
  const scope = `${date}/${region}/${service}/aws4_request`;
  const key = [date, region, service, 'aws4_request'].reduce<Buffer>(
    (secret, part) => hmac(secret, part),
    Buffer.from(`AWS4${signer.secretAccessKey}`),
  );
  const expected = hmac(key, ['AWS4-HMAC-SHA256', time, scope, hash(canonical)].join('\n')).toString('hex');
  return expected === signature ? undefined : 'The request signature we calculated does not match the signature you provided.';
}

function encodeStrictly(segment: string): string {
  return encodeURIComponent(segment).replaceAll(/[!'()*]/gu, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
