import { afterAll, describe, expect, test } from 'bun:test';
import { generateKeyPairSync } from 'node:crypto';
import type { ProviderConfig, Timeouts } from '../../src/config.ts';
import { ask } from '../../src/gateway/ask.ts';
import { Call, CLIENT_GONE, type Watcher } from '../../src/gateway/call.ts';
import type { Gate } from '../../src/gateway/gate.ts';
import type { Dispatch } from '../../src/gateway/dispatch.ts';
import { HttpClient } from '../../src/http/client.ts';
import { HeldBytes } from '../../src/http/held-bytes.ts';
import { failureOf } from '../simulator/failure.ts';
import { startGeminiSimulator } from '../simulator/gemini.ts';
import { until } from '../until.ts';

const TIMEOUTS: Timeouts = { connectMs: 20, firstByteMs: 20, answerMs: 20_000, idleMs: 5000, totalMs: 20_000, keepAliveMs: 1000 };
const TOKEN_MS = 200;
const WATCH_MS = 5;
/** Generous, because the test machine is busy. The token itself has ten seconds. */
const AT_ONCE_MS = 5000;
const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});
const gemini = startGeminiSimulator();
const client = new HttpClient();
let asked = 0;
/** Returns tokens late at `/late`, and never answers elsewhere. */
const tokens = Bun.serve({
  port: 0,
  fetch: async ({ url }) => {
    asked += 1;
    await (url.endsWith('/late') ? Bun.sleep(TOKEN_MS) : new Promise(() => undefined));
    return Response.json({ access_token: gemini.apiKey, expires_in: 3600 });
  },
});

afterAll(async () => {
  client.close();
  await tokens.stop(true);
  await gemini.stop();
});

/** Asks a provider whose tokens come from this path. */
function askWith(
  path: string,
  { timeouts = {}, call = openCall(), watcher }: { timeouts?: Partial<Timeouts>; call?: Call; watcher?: Watcher },
) {
  const gate = { config: { timeouts: { ...TIMEOUTS, ...timeouts } }, client, held: new HeldBytes() } as unknown as Gate;
  const serviceAccount = { clientEmail: 'gate@example.com', privateKey, privateKeyId: undefined, tokenUri: `${tokens.url.origin}${path}` };
  const provider = {
    id: crypto.randomUUID(),
    dialect: 'gemini-vertex',
    baseUrl: gemini.vertexBaseUrl,
    serviceAccount,
  } as unknown as ProviderConfig;
  const chat = { model: 'mock/gemini', messages: [{ role: 'user', content: 'Hi' }] };
  const dispatch = { call, chat, watcher, model: { id: 'mock/gemini', features: [] } } as unknown as Dispatch;
  return ask(gate, dispatch, { route: { provider: 'vertex', model: 'gemini-2.5-flash' }, provider });
}

function openCall(): Call {
  return new Call('req_1', 0, new Request('http://gate'), { address: () => '' });
}

describe('a late access token', () => {
  test('does not count against the time of the provider', async () => {
    // The clock ticks just as the exchange has begun.
    const watcher: Watcher = {
      watch: (exchange, deadlines) => {
        const timeout = deadlines.check(performance.now());
        if (timeout !== undefined) exchange.abort(timeout);
      },
    };
    expect(await askWith('/late', { watcher })).toMatchObject({ type: 'whole' });
  });

  test('is abandoned when the client leaves', async () => {
    const call = openCall();
    const before = asked;
    const asking = askWith('/never', { call });
    await until(() => asked > before);
    const leftAtMs = performance.now();
    call.end(CLIENT_GONE);
    expect(await failureOf(asking)).toMatchObject({ errorName: 'provider_unavailable' });
    expect(performance.now() - leftAtMs).toBeLessThan(AT_ONCE_MS);
  });

  test('is abandoned when the total time of the call is over', async () => {
    const call = openCall();
    const clock = setInterval(() => call.tick(performance.now()), WATCH_MS);
    const asking = askWith('/never', { call, timeouts: { totalMs: TOKEN_MS } });
    expect(await failureOf(asking)).toMatchObject({
      errorName: 'provider_timeout',
      message: 'The provider did not finish within 0.2 seconds.',
    });
    clearInterval(clock);
  });
});
