import { afterEach } from 'bun:test';
import { HttpClient, type ClientOptions } from '../../src/http/client.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import { type RawServer, startRawServer } from './raw-server.ts';

/** More than any body in these tests. */
export const BYTES_MAX = 100_000_000;
const cleanups: (() => void)[] = [];

/** Stops everything that a test of the file has started, after each test. */
export function cleanUpAfterEach(): void {
  afterEach(() => {
    for (const cleanup of cleanups.splice(0)) cleanup();
  });
}

/** Starts a scripted server that ends with the test. */
export async function serve(...[respond, options]: Parameters<typeof startRawServer>): Promise<RawServer> {
  const server = await startRawServer(respond, options);
  cleanups.push(() => server.stop());
  return server;
}

/** Creates a client that ends with the test. */
export function makeClient(options: ClientOptions = {}): HttpClient {
  const client = new HttpClient(options);
  cleanups.push(() => client.close());
  return client;
}

export function post(client: HttpClient, url: string, body = '{}', headers: Record<string, string> = {}): Exchange {
  return client.post({ url, body, headers });
}

export async function textOf(exchange: Exchange): Promise<string> {
  await exchange.head;
  return (await exchange.text(BYTES_MAX)) ?? '(too long)';
}

/** Returns a response of status 200 with a length. */
export function answer(text: string, headers = ''): string {
  return `HTTP/1.1 200 OK\r\n${headers}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}
