import { readdirSync, readlinkSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql, type Kysely } from 'kysely';
import type { KeySettings } from '../../../src/accounts/key-settings.ts';
import type { DatabasePlace } from '../../../src/database/connect.ts';
import type { Tables } from '../../../src/database/tables.ts';
import { placeMigratedDatabase } from '../../services/embedded.ts';
import { createMigratedDatabase } from '../../services/postgres.ts';
import { startReaper } from '../../services/reaper.ts';
import { describeModel } from '../../simulator/gate.ts';
import { type OpenAiSimulator, startOpenAiSimulator } from '../../simulator/openai.ts';
import { addKey, makePayer, useDatabase } from '../../simulator/payer.ts';
import type { JsonObject } from '../../simulator/wire.ts';
import { until } from '../../until.ts';
import { type GatewayNode, runProgram, startNode } from './node.ts';

/** One database, one scripted provider, and as many gateways in front of both as a test needs. */
export interface Site {
  readonly provider: OpenAiSimulator;
  readonly dataFolder: string;
  readonly place: DatabasePlace;
  /** Starts a gateway process and waits until it is ready. */
  startNode(options?: { readonly wrapper?: readonly string[] }): Promise<GatewayNode>;
  /** Creates an account with credit and one key. */
  makeKey(creditUsd: string, settings?: Partial<KeySettings>): Promise<SiteKey>;
  /** Creates an account with credit and this many keys. */
  makeKeys(creditUsd: string, count: number): Promise<readonly SiteKey[]>;
  /** Runs work on a separate database connection, which is closed before this returns. */
  withDatabase<Result>(work: (database: Kysely<Tables>) => Promise<Result>): Promise<Result>;
  /** Runs `tollgate ledger verify`, and throws with its report unless all rules hold. */
  verify(): Promise<void>;
  /** Stops every running gateway and removes everything that was created. */
  stop(): Promise<void>;
}

export interface SiteKey {
  readonly id: string;
  readonly secret: string;
  readonly accountId: string;
}

export type Store = 'sqlite' | 'postgres';

/** What a test can change. */
export interface SiteOptions {
  readonly store: Store;
  /** A PostgreSQL other than the shared one, for example one that will be killed. */
  readonly databaseUrl?: string;
  /** A Redis that counts the limits of all nodes. */
  readonly redisUrl?: string;
  /** A data folder other than a new one, for example on a small file system. */
  readonly dataFolder?: string;
  readonly providers?: Readonly<Record<string, JsonObject>>;
  readonly models?: readonly JsonObject[];
  readonly timeouts?: Readonly<Record<string, number>>;
}

/** So high that no limit is reached. */
const NO_LIMITS = { requests_per_minute: 1_000_000_000, tokens_per_minute: 1_000_000_000, concurrent: 100_000 };

/** Opens a site with a migrated database and no gateways yet. */
export async function openSite(options: SiteOptions): Promise<Site> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-ledger-'));
  const reaper = await startReaper({ path: folder, stopSignal: 'SIGKILL' });
  const provider = await startOpenAiSimulator();
  const shared = options.store === 'postgres' && options.databaseUrl === undefined ? await createMigratedDatabase() : undefined;
  const databaseUrl = options.databaseUrl ?? shared?.url;
  const dataFolder = options.dataFolder ?? join(folder, 'data');
  const config = join(folder, 'tollgate.yaml');
  await writeFile(config, JSON.stringify(settingsFor(options)));
  const env: Record<string, string> = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    HOST: '127.0.0.1',
    TOLLGATE_DATA: dataFolder,
    TOLLGATE_CONFIG: config,
    MOCK_KEY: provider.apiKey,
    MOCK_URL: provider.baseUrl,
    BUN_CONFIG_MAX_HTTP_REQUESTS: '65535',
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    ...(options.redisUrl !== undefined && { REDIS_URL: options.redisUrl }),
  };
  const place = { databaseUrl, databasePath: join(dataFolder, 'tollgate.db') };
  if (databaseUrl === undefined) await placeMigratedDatabase(place.databasePath);
  else if (shared === undefined) await runProgram(['migrate', '--json'], env);
  const withDatabase: Site['withDatabase'] = (work) => useAlone(place, work);
  return {
    provider,
    dataFolder,
    place,
    startNode: ({ wrapper = [] } = {}) => startNode(env, { reaper, wrapper }),
    makeKey: (creditUsd, settings) => withDatabase((database) => makePayer(database, creditUsd, settings)),
    makeKeys: (creditUsd, count) => withDatabase((database) => makeKeys(database, creditUsd, count)),
    withDatabase,
    verify: () => verify(env),
    async stop() {
      await reaper.finish();
      await provider.stop();
      await shared?.drop();
    },
  };
}

function settingsFor(options: SiteOptions): JsonObject {
  return {
    providers: {
      mock: { dialect: 'openai', base_url: '${MOCK_URL}', api_key: '${MOCK_KEY}' },
      ...options.providers,
    },
    models: [
      describeModel('mock/gpt', 'mock', { input: 2.5, cached_input: 1.25, cache_write: 3.125, output: 10 }),
      describeModel('mock/free', 'mock', { input: 0, output: 0 }),
      ...(options.models ?? []),
    ],
    limits: NO_LIMITS,
    ...(options.timeouts !== undefined && { timeouts: options.timeouts }),
  };
}

/** Closes the connection after the work. If it stayed open, a killed gateway's successor would not have to recover the log. */
async function useAlone<Result>(place: DatabasePlace, work: (database: Kysely<Tables>) => Promise<Result>): Promise<Result> {
  try {
    return await useDatabase(place, async (database) => {
      if (place.databaseUrl !== undefined) await untilConnected(database);
      return work(database);
    });
  } finally {
    if (place.databaseUrl === undefined) expectClosed(place.databasePath);
  }
}

/** A machine that stalls for seconds exceeds the time for connecting. Nothing has happened by then, so another attempt is harmless. */
async function untilConnected(database: Kysely<Tables>): Promise<void> {
  await until(() =>
    sql`SELECT 1`.execute(database).then(
      () => true,
      () => false,
    ),
  );
}

function expectClosed(databasePath: string): void {
  const open = readdirSync(OWN_FILES).filter((file) => linkOf(join(OWN_FILES, file)).startsWith(databasePath));
  if (open.length > 0) throw new Error(`${databasePath} is still open here`);
}

const OWN_FILES = '/proc/self/fd';

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    // It was closed in the meantime.
    return '';
  }
}

async function makeKeys(database: Kysely<Tables>, creditUsd: string, count: number): Promise<readonly SiteKey[]> {
  const first = await makePayer(database, creditUsd);
  const keys: SiteKey[] = [first];
  while (keys.length < count) keys.push(await addKey(database, first.accountId));
  return keys;
}

async function verify(env: Readonly<Record<string, string>>): Promise<void> {
  const report = JSON.parse(await runProgram(['ledger', 'verify', '--json'], env)) as { ok: boolean; checks: readonly JsonObject[] };
  if (report.ok && report.checks.length >= RULES_MIN) return;
  throw new Error(`ledger verify: ${JSON.stringify(report.checks.filter((check) => check['ok'] !== true))}`);
}

/** R1 to R9. */
const RULES_MIN = 9;
