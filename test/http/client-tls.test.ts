import { describe, expect, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { failureOf } from '../simulator/failure.ts';
import { until } from '../until.ts';
import { answer, cleanUpAfterEach, makeClient, post, serve, textOf } from './client-setup.ts';
import type { RawServer } from './raw-server.ts';

const FOLDER = join(import.meta.dirname, 'certificates');
const AUTHORITY = join(FOLDER, 'authority.pem');

cleanUpAfterEach();

function serveTls(name: string, onConnection: (socket: Socket) => void = () => undefined): Promise<RawServer> {
  const tls = { key: readFileSync(join(FOLDER, `${name}.key`)), cert: readFileSync(join(FOLDER, `${name}.pem`)) };
  return serve((socket) => socket.write(answer('ok')), { tls, onConnection });
}

/** Returns the body from the server, for a client that trusts this authority. */
function ask(url: string, ca: string | undefined): Promise<string> {
  return textOf(post(makeClient(ca === undefined ? {} : { ca: readFileSync(ca, 'utf8') }), url));
}

describe('a server with a certificate', () => {
  test('from a trusted authority is called by its name, over one connection', async () => {
    const names: (string | false | null | undefined)[] = [];
    const server = await serveTls('localhost', (socket) => names.push((socket as TLSSocket).servername));
    const client = makeClient({ ca: readFileSync(AUTHORITY, 'utf8') });
    for (let index = 0; index < 3; index += 1) expect(await textOf(post(client, `${server.origin}/v1`))).toBe('ok');
    expect(names).toEqual(['localhost']);
    expect(server.requests[0]).toContain(`\r\nhost: localhost:${server.port}\r\n`);
  });

  test.each([
    ['for another name', 'elsewhere', AUTHORITY, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['that is self-signed', 'self-signed', AUTHORITY, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['from an unknown authority', 'localhost', undefined, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ])('%s is refused before anything is sent', async (_, name, ca, code) => {
    const server = await serveTls(name);
    expect(await failureOf(ask(`${server.origin}/v1`, ca))).toMatchObject({ code });
    await Bun.sleep(20);
    expect(server.requests).toEqual([]);
    expect(server.openConnections).toBe(0);
  });

  test('without its address is refused when it is called by address', async () => {
    const server = await serveTls('localhost');
    const failure = await failureOf(ask(`https://127.0.0.1:${server.port}/v1`, AUTHORITY));
    expect(failure).toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
    expect(server.requests).toEqual([]);
  });

  test('from an authority in NODE_EXTRA_CA_CERTS is trusted', async () => {
    const server = await serveTls('localhost');
    const script = `
      import { HttpClient } from ${JSON.stringify(join(import.meta.dirname, '../../src/http/client.ts'))};
      const exchange = new HttpClient().post({ url: ${JSON.stringify(server.origin)}, headers: {}, body: '' });
      console.log((await exchange.head).status);
      process.exit(0);`;
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: AUTHORITY };
    const child = spawn(process.execPath, ['-e', script], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const [printed] = (await once(child.stdout, 'data')) as [Buffer];
    expect(printed.toString().trim()).toBe('200');
  });
});

test('a server that does not speak TLS is a failure', async () => {
  const server = await serve(() => undefined, { onConnection: (socket) => void socket.end('hello, this is not TLS\r\n') });
  expect(await failureOf(ask(`https://localhost:${server.port}/`, AUTHORITY))).toBeInstanceOf(Error);
});

test('an abort during the handshake closes the connection', async () => {
  const server = await serve(() => undefined);
  const exchange = post(makeClient(), `https://localhost:${server.port}/`);
  const failure = failureOf(exchange.head);
  await until(() => server.openConnections === 1);
  await Bun.sleep(20);
  exchange.abort('enough');
  expect(await failure).toBe('enough');
  await until(() => server.openConnections === 0);
});
