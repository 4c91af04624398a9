import { generateKeyPairSync } from 'node:crypto';
import { afterAll, afterEach, expect, test } from 'bun:test';
import type { ProviderConfig } from '../../src/config.ts';
import { keyFor, redact } from '../../src/gateway/credentials.ts';

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});
const CLOSED_PORT = 9;

let grants = 0;
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: () => {
    grants += 1;
    return Response.json({ access_token: `ya29.${grants}`, expires_in: 3600 });
  },
});
const { HTTP_PROXY: proxyBefore = '' } = process.env;
afterEach(() => {
  process.env['HTTP_PROXY'] = proxyBefore;
});
afterAll(() => server.stop(true));

/** Returns a provider as the settings of one gate define it. */
function configure(): ProviderConfig {
  return {
    id: 'gemini-vertex',
    dialect: 'gemini-vertex',
    baseUrl: 'https://vertex.example.com',
    apiKey: undefined,
    credential: 'tollgate.yaml',
    host: undefined,
    apiVersion: undefined,
    aws: undefined,
    serviceAccount: { clientEmail: 'gate@example.com', privateKey, privateKeyId: undefined, tokenUri: `${server.url}token` },
    discovers: false,
  };
}

test('a token is fetched once, and two gates in one process share none', async () => {
  const [one, other] = [configure(), configure()];
  const token = await keyFor(one);
  expect(await keyFor(one)).toBe(token);
  expect(await keyFor(other)).not.toBe(token);
});

test('a token is fetched directly, whatever proxy the environment names', async () => {
  process.env['HTTP_PROXY'] = `http://127.0.0.1:${CLOSED_PORT}`;
  expect(await keyFor(configure())).toStartWith('ya29.');
});

test('the token is redacted in a text of the provider', async () => {
  const provider = configure();
  expect(redact('no token yet', provider)).toBe('no token yet');
  expect(redact(`Bearer ${await keyFor(provider)} is wrong`, provider)).toBe('Bearer [redacted] is wrong');
});
