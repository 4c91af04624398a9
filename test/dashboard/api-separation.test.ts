import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/config.ts';
import { connect } from '../../src/database/connect.ts';
import { migrate } from '../../src/database/migrate.ts';
import { describeInterface } from '../../src/reference/openapi.ts';
import { serve, type Service } from '../../src/serve.ts';
import { buildPages } from '../services/built.ts';
import { findFreePort } from '../services/free-port.ts';
import { PASSWORD } from './open-dashboard.ts';
import { describeStores, type Store } from './stores.ts';

const HTML = 'text/html;charset=utf-8';

/** Opens a page as a browser does, without following a redirect. */
const open = (base: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(`${base}/keys?to=1`, { headers: { accept: 'text/html', ...headers }, redirect: 'manual' });

/** Clients use `/v1` with a key, people use `/api` with a cookie. Runs against the real server. */
describeStores((makeStore) => {
  let store: Store;
  let service: Service;
  let folder: string;
  let origin: string;
  let cookie: string;
  let secret: string;

  beforeAll(async () => {
    await buildPages();
    store = await makeStore();
    folder = mkdtempSync(join(tmpdir(), 'tollgate-doors-'));
    const port = await findFreePort();
    origin = `http://localhost:${port}`;
    const database = store.databaseUrl === undefined ? {} : { DATABASE_URL: store.databaseUrl };
    const config = loadConfig({ ...database, PORT: String(port), PUBLIC_URL: origin, TOLLGATE_DATA: folder, TOLLGATE_LOG_LEVEL: 'silent' });
    const opened = await connect(config);
    await migrate(opened.kysely, opened.dialect);
    await opened.kysely.destroy();
    service = await serve(config);
    const signedUp = await send('/api/auth/sign-up/email', { email: 'doors@example.com', password: PASSWORD });
    cookie = signedUp.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    secret = ((await (await send('/api/account/first-key', {}, { cookie })).json()) as { secret: string }).secret;
  }, 120_000);
  afterAll(async () => {
    await service?.drain();
    await store?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  const send = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
    fetch(origin + path, {
      method: 'POST',
      headers: { origin, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });

  const visit = async (path: string): Promise<[number, string | null]> => {
    const { status, headers } = await fetch(origin + path, { headers: { accept: 'text/html' } });
    return [status, headers.get('content-type')];
  };

  test('a session is not accepted at /v1, in whichever header', async () => {
    expect((await fetch(`${origin}/api/account`, { headers: { cookie } })).status).toBe(200);
    const token = cookie.slice(cookie.indexOf('=') + 1);
    for (const [path, methods] of Object.entries(describeInterface(origin).paths))
      for (const method of Object.keys(methods))
        for (const headers of [
          { cookie },
          { cookie, authorization: `Bearer ${token}` },
          { cookie: `${cookie}; authorization=${secret}` },
        ]) {
          const { status } = await fetch(`${origin}/v1${path.replace('{id}', 'sandbox/echo')}`, { method: method.toUpperCase(), headers });
          expect([method, path, status]).toEqual([method, path, 401]);
        }
  });

  test('a browser that uses another name of this machine is sent to the public address', async () => {
    const elsewhere = await open(origin.replace('localhost', '127.0.0.1'));
    expect([elsewhere.status, elsewhere.headers.get('location')]).toEqual([307, `${origin}/keys?to=1`]);
    for (const answer of [
      await open(origin),
      await open(origin, { host: 'gate.example.com' }),
      await open(origin, { host: '127.0.0.1:1' }),
    ])
      expect(answer.headers.get('location')).toBeNull();
  });

  test('a key is not accepted under /api, and /v1 sets no cookie', async () => {
    const authorization = `Bearer ${secret}`;
    const models = await fetch(`${origin}/v1/models`, { headers: { authorization } });
    expect([models.status, models.headers.getSetCookie()]).toEqual([200, []]);
    for (const headers of [
      { authorization },
      { authorization, cookie: 'tollgate.session_token=x' },
      { cookie: `tollgate.session_token=${secret}` },
    ])
      expect((await fetch(`${origin}/api/account`, { headers })).status).toBe(401);
  });

  test('pages are served with all security headers', async () => {
    const { headers } = await fetch(`${origin}/settings`, { headers: { accept: 'text/html' } });
    const policy = headers.get('content-security-policy') ?? '';
    for (const part of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"])
      expect(policy).toContain(part);
    expect(policy).not.toContain('unsafe');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
  });

  test('an address without a page or a file is a 404', async () => {
    for (const path of ['/', '/keys/', '/keys/key_1', '/admin']) expect([path, ...(await visit(path))]).toEqual([path, 200, HTML]);
    for (const path of ['/nowhere', '/admin/nowhere', '/favicon.ico']) expect([path, ...(await visit(path))]).toEqual([path, 404, HTML]);
    expect(await visit('/assets/none.js')).toEqual([404, 'application/json']);
  });

  test('a body that is too large is refused before it is read', async () => {
    const answer = await send('/api/keys', { name: 'x'.repeat(1_100_000) }, { cookie });
    expect([answer.status, answer.headers.get('x-content-type-options'), answer.headers.get('cache-control')]).toEqual([
      413,
      'nosniff',
      'no-store',
    ]);
  });
});
