import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Kysely } from 'kysely';
import { Accounts } from '../../src/accounts/accounts.ts';
import { Keys } from '../../src/accounts/keys.ts';
import { connect } from '../../src/database/connect.ts';
import type { Tables } from '../../src/database/tables.ts';
import { asNanos } from '../../src/ledger/money.ts';
import type { Store } from '../dashboard/stores.ts';
import { MAIN } from '../services/built.ts';
import { placeMigratedDatabase } from '../services/embedded.ts';
import { findFreePort } from '../services/free-port.ts';

/** A running gate with a funded account and a key with two tags, on either database. */
export interface UsageStage {
  readonly url: string;
  readonly secret: string;
  readonly cookie: { readonly name: string; readonly value: string };
  stop(): Promise<void>;
}

const ROOT = resolve(import.meta.dirname, '../..');
const PERSON = { name: 'Ada', email: 'ada@example.com', password: 'a gate on a mountain road' } as const;
const READY_WITHIN_MS = 60_000;
const POLL_MS = 50;

/** Three priced models: one is served, one has an unreachable provider, and one falls back from it to another. */
const SETTINGS = {
  providers: { gone: { dialect: 'openai', base_url: 'http://127.0.0.1:9/v1', api_key: 'none' } },
  models: [
    { ...modelOf('stage/story'), routes: [{ provider: 'sandbox', model: 'story' }] },
    { ...modelOf('stage/gone'), routes: [{ provider: 'gone', model: 'gone' }] },
    {
      ...modelOf('stage/stubborn'),
      routes: [
        { provider: 'gone', model: 'gone' },
        { provider: 'sandbox', model: 'story' },
      ],
    },
  ],
};

function modelOf(id: string): object {
  return {
    id,
    name: id,
    provider: 'sandbox',
    context_length: 8192,
    max_output_tokens: 1024,
    price: { input: '1.25', cached_input: '0.125', output: '10' },
  };
}

/** Starts the server as an operator would. The pages must be built already. */
export async function openUsageStage(store: Store): Promise<UsageStage> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-usage-stage-'));
  const databasePath = join(folder, 'tollgate.db');
  writeFileSync(join(folder, 'tollgate.yaml'), JSON.stringify(SETTINGS));
  if (store.databaseUrl === undefined) await placeMigratedDatabase(databasePath);
  const database = await connect({ databaseUrl: store.databaseUrl, databasePath });
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const env = {
    PATH: process.env['PATH'] ?? '',
    PORT: String(port),
    PUBLIC_URL: url,
    TOLLGATE_DATA: folder,
    TOLLGATE_CONFIG: join(folder, 'tollgate.yaml'),
    ...(store.databaseUrl === undefined ? {} : { DATABASE_URL: store.databaseUrl }),
  };
  const server = Bun.spawn([process.execPath, MAIN, 'serve'], { cwd: ROOT, env, stdout: 'ignore', stderr: 'ignore' });
  const stop = async (): Promise<void> => {
    server.kill('SIGKILL');
    await server.exited;
    await database.kysely.destroy();
    rmSync(folder, { recursive: true });
  };
  try {
    await untilReady(url);
    const cookie = await signUp(url);
    return { url, cookie, secret: await makeKey(database.kysely), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function makeKey(database: Kysely<Tables>): Promise<string> {
  const accounts = new Accounts(database);
  const account = await accounts.find(PERSON.email);
  if (account === undefined) throw new Error('Signing up created no account.');
  await accounts.credit(account, asNanos(5_000_000_000n), { reason: 'stage', actor: 'test' });
  return (await new Keys(database).create(account.id, { name: 'stage key', tags: ['web', 'production'] })).secret;
}

async function untilReady(url: string): Promise<void> {
  const untilMs = Date.now() + READY_WITHIN_MS;
  while (Date.now() < untilMs) {
    if (
      await fetch(`${url}/readyz`).then(
        (answer) => answer.ok,
        () => false,
      )
    )
      return;
    await Bun.sleep(POLL_MS);
  }
  throw new Error('The server did not become ready.');
}

async function signUp(url: string): Promise<UsageStage['cookie']> {
  const headers = { origin: url, 'content-type': 'application/json' };
  const answer = await fetch(`${url}/api/auth/sign-up/email`, { method: 'POST', headers, body: JSON.stringify(PERSON) });
  const [pair = ''] = (answer.headers.getSetCookie()[0] ?? '').split(';');
  if (!answer.ok) throw new Error(`Signing up failed: ${await answer.text()}`);
  return { name: pair.slice(0, pair.indexOf('=')), value: pair.slice(pair.indexOf('=') + 1) };
}
