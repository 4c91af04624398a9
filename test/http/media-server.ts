import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { Reach } from '../../src/http/fetch-media.ts';
import { serve } from './client-setup.ts';
import type { RawServer } from './raw-server.ts';

const FOLDER = join(import.meta.dirname, 'certificates');

/** The beginning of a file of each kind, which is all that is checked. */
export const PNG = Buffer.from('\x89PNG\r\n\x1a\n and the picture', 'latin1');
export const PDF = Buffer.from('%PDF-1.7 and the pages', 'latin1');
export const WAV = Buffer.from('RIFF\x24\x08\0\0WAVEfmt ', 'latin1');

/** Starts a server with the certificate of `localhost` or `elsewhere.example` that ends with the test. `respond` gets the path. */
export function serveMedia(
  respond: (socket: Socket, path: string) => void,
  { name = 'localhost', host = '127.0.0.1' }: { name?: string; host?: string } = {},
): Promise<RawServer> {
  const tls = { key: readFileSync(join(FOLDER, `${name}.key`)), cert: readFileSync(join(FOLDER, `${name}.pem`)) };
  return serve((socket, _, text) => respond(socket, text.split(' ', 2)[1] ?? ''), { tls, host });
}

/** Writes a complete response and ends the connection. */
export function sendFile(socket: Socket, bytes: Buffer, contentType = 'image/png', headers = ''): void {
  socket.write(`HTTP/1.1 200 OK\r\ncontent-type: ${contentType}\r\n${headers}content-length: ${bytes.length}\r\n\r\n`);
  socket.end(bytes);
}

/** Writes a redirect and ends the connection. */
export function sendRedirect(socket: Socket, location: string, status = 302): void {
  socket.end(`HTTP/1.1 ${status} Found\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`);
}

/** The reach for tests: every name resolves to this machine, and only this machine is allowed, at any port. */
export function reachLoopback(changes: Partial<Reach> = {}): Reach & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    resolve: async (host) => {
      asked.push(host);
      return ['127.0.0.1'];
    },
    allows: (address) => address === '127.0.0.1',
    ca: readFileSync(join(FOLDER, 'authority.pem'), 'utf8'),
    ...changes,
  };
}
