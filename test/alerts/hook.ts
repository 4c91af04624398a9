import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startRawServer } from '../http/raw-server.ts';
import type { JsonObject } from '../simulator/wire.ts';

/** A user's own server, which checks the signature of what it receives. */
export interface Hook {
  /** Ends in a slash. Posts to `broken` get status 500. */
  readonly url: string;
  /** Returns the messages signed with this secret. */
  verified(secret: string): JsonObject[];
  stop(): void;
}

const FOLDER = join(import.meta.dirname, '../http/certificates');

export async function serveHook(): Promise<Hook> {
  const tls = { key: readFileSync(join(FOLDER, 'localhost.key')), cert: readFileSync(join(FOLDER, 'localhost.pem')) };
  const server = await startRawServer(
    (socket, _, text) =>
      void socket.end(`HTTP/1.1 ${text.startsWith('POST /broken ') ? '500 No' : '204 No Content'}\r\ncontent-length: 0\r\n\r\n`),
    { tls, host: '127.0.0.1' },
  );
  return {
    url: `https://localhost:${server.port}/`,
    verified: (secret) => server.requests.flatMap((text) => readSigned(text, secret)),
    stop: () => server.stop(),
  };
}

function readSigned(request: string, secret: string): JsonObject[] {
  const [head = '', body = ''] = request.split('\r\n\r\n');
  const [, seconds = '', signature] = /^tollgate-signature: t=(\d+),v1=([0-9a-f]{64})$/mu.exec(head.replaceAll('\r', '')) ?? [];
  const bytes = Buffer.from(body, 'latin1');
  const own = createHmac('sha256', secret).update(`${seconds}.`).update(bytes).digest('hex');
  return own === signature ? [JSON.parse(bytes.toString('utf8')) as JsonObject] : [];
}
