import { Buffer } from 'node:buffer';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Accounts } from '../../src/accounts/accounts.ts';
import { MAIN } from '../services/built.ts';
import { placeMigratedDatabase } from '../services/embedded.ts';
import { parseNanos } from './invoice.ts';
import type { OpenAiSimulator } from './openai.ts';
import { makePayer, openTurns } from './payer.ts';
import type { JsonObject } from './wire.ts';

/** Where Linux keeps files in memory. */
const MEMORY = '/dev/shm';

/** The real server in its own process, with its own data folder, in front of a simulator. */
export interface Gate {
  /** The address ending in `/v1`. */
  readonly baseUrl: string;
  /** The address without `/v1`. */
  readonly origin: string;
  readonly dataFolder: string;
  /** Everything the server has printed so far, on standard output and standard error. */
  output(): string;
  /** The JSON lines of that output. */
  logLines(): readonly JsonObject[];
  /** Runs a command of the program with `--json` on the same data folder. A failure throws with its text. */
  run(...args: readonly string[]): Promise<JsonObject>;
  /** Creates an account with credit and a key for it. */
  makeKey(options?: KeyOptions): Promise<TestKey>;
  /** Returns the account's balance once nothing is held any more. */
  settledBalance(key: TestKey): Promise<bigint>;
  /** Returns the resident memory of the server process, from the kernel. */
  residentBytes(): number;
  /** Asks the server to stop (SIGTERM) and returns its exit code. The data folder stays. */
  terminate(): Promise<number | null>;
  /** Asks the server to stop and removes its data folder. */
  stop(): Promise<number | null>;
  /** Kills the server at once (SIGKILL). */
  kill(): Promise<void>;
}

/** What a test may change about the server. Objects are written into its YAML settings unchanged. */
export interface GateOptions {
  /** For tests of the gateway's own latency: a disk that other tests keep busy can stall for seconds. */
  readonly isInMemory?: true;
  readonly simulator: Pick<OpenAiSimulator, 'baseUrl' | 'apiKey'>;
  readonly providers?: Readonly<Record<string, JsonObject>>;
  readonly models?: readonly JsonObject[];
  readonly timeouts?: Readonly<Record<string, number>>;
  readonly settings?: JsonObject;
  readonly env?: Readonly<Record<string, string>>;
}

/** The options of `account create` and `key create` that tests use. */
export interface KeyOptions {
  readonly creditUsd?: string;
  readonly models?: string;
  readonly rpm?: number;
  readonly tpm?: number;
  readonly concurrent?: number;
  readonly expires?: string;
}

export interface TestKey {
  readonly id: string;
  readonly secret: string;
  readonly email: string;
  readonly creditNanos: bigint;
}

const PROJECT = join(import.meta.dirname, '..', '..');
const READY_WITHIN_MS = 60_000;
/** Longer than the token count for a disconnected caller's charge may take. */
const EXIT_WITHIN_MS = 30_000;
const SETTLED_WITHIN_MS = 30_000;
const SETTLED_POLL_MS = 10;
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Starts `tollgate serve` with the models `mock/gpt` and `mock/free` and waits until it is ready. */
export async function startGate(options: GateOptions): Promise<Gate> {
  const folder = await mkdtemp(join(options.isInMemory === true && existsSync(MEMORY) ? MEMORY : tmpdir(), 'tollgate-test-'));
  const config = join(folder, 'tollgate.yaml');
  // JSON is YAML, so the settings need no second serialiser.
  await writeFile(config, JSON.stringify(settingsFor(options), undefined, 2));
  const port = await findFreePort();
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    HOST: '127.0.0.1',
    PORT: String(port),
    TOLLGATE_DATA: join(folder, 'data'),
    TOLLGATE_CONFIG: config,
    MOCK_KEY: options.simulator.apiKey,
    ...options.env,
  };
  const databasePath = join(env.TOLLGATE_DATA, 'tollgate.db');
  await placeMigratedDatabase(databasePath);
  const server = launch(['serve'], env);
  const origin = `http://127.0.0.1:${port}`;
  await waitUntilReady(origin, server);

  const withDatabase = openTurns({ databaseUrl: undefined, databasePath });
  return {
    baseUrl: `${origin}/v1`,
    origin,
    dataFolder: env.TOLLGATE_DATA,
    output: () => server.output(),
    logLines: () => server.output().split('\n').flatMap(parseLogLine),
    run: (...args) => runCommand([...args, '--json'], env),
    makeKey: (keyOptions = {}) => makeKey(withDatabase, keyOptions),
    settledBalance: (key) => readSettledBalance(withDatabase, key),
    residentBytes: () => readResidentBytes(server.child),
    terminate: () => end(server.child, 'SIGTERM'),
    async stop() {
      const code = await end(server.child, 'SIGTERM');
      await rm(folder, { recursive: true, force: true });
      return code;
    },
    async kill() {
      await end(server.child, 'SIGKILL');
    },
  };
}

/** Returns a model for the settings file whose only route is the model `gpt-x` of the given provider. */
export function describeModel(id: string, provider: string, price: JsonObject): JsonObject {
  return {
    id,
    name: `Mock ${id}`,
    provider,
    created: 1_700_000_000,
    context_length: 128_000,
    max_output_tokens: 16_384,
    price,
    routes: [{ provider, model: 'gpt-x' }],
  };
}

function settingsFor(options: GateOptions): JsonObject {
  return {
    providers: {
      mock: { dialect: 'openai', base_url: options.simulator.baseUrl, api_key: '${MOCK_KEY}' },
      ...options.providers,
    },
    models: [
      describeModel('mock/gpt', 'mock', { input: 2.5, cached_input: 1.25, cache_write: 3.125, output: 10 }),
      describeModel('mock/free', 'mock', { input: 0, cached_input: 0, cache_write: 0, output: 0 }),
      ...(options.models ?? []),
    ],
    ...(options.timeouts !== undefined && { timeouts: options.timeouts }),
    ...options.settings,
  };
}

async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

interface Launched {
  readonly child: ChildProcess;
  output(): string;
}

function launch(args: readonly string[], env: Readonly<Record<string, string>>): Launched {
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: PROJECT, env, stdio: 'pipe' });
  const printed: Buffer[] = [];
  child.stdout.on('data', (bytes: Buffer) => printed.push(bytes));
  child.stderr.on('data', (bytes: Buffer) => printed.push(bytes));
  running.add(child);
  child.on('exit', () => running.delete(child));
  return { child, output: () => Buffer.concat(printed).toString('utf8') };
}

async function waitUntilReady(origin: string, server: Launched): Promise<void> {
  const deadline = performance.now() + READY_WITHIN_MS;
  while (performance.now() < deadline && server.child.exitCode === null) {
    const response = await fetch(`${origin}/readyz`).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.status === 200) return;
    await Bun.sleep(25);
  }
  server.child.kill('SIGKILL');
  throw new Error(`the server did not become ready; it printed:\n${server.output()}`);
}

async function runCommand(args: readonly string[], env: Readonly<Record<string, string>>): Promise<JsonObject> {
  const command = spawn(process.execPath, [MAIN, ...args], { cwd: PROJECT, env, stdio: 'pipe' });
  const stdout = Array.fromAsync(command.stdout as AsyncIterable<Buffer>);
  const stderr = Array.fromAsync(command.stderr as AsyncIterable<Buffer>);
  const [code] = (await once(command, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${Buffer.concat(await stderr).toString()}`);
  return JSON.parse(Buffer.concat(await stdout).toString()) as JsonObject;
}

type WithDatabase = ReturnType<typeof openTurns>;

async function makeKey(withDatabase: WithDatabase, options: KeyOptions): Promise<TestKey> {
  const { creditUsd = '10', models, rpm, tpm, concurrent, expires } = options;
  const settings = {
    models: models?.split(','),
    requestsPerMinute: rpm,
    tokensPerMinute: tpm,
    concurrent,
    expiresAtMs: expires === undefined ? undefined : Date.parse(expires),
  };
  const { id, secret, email } = await withDatabase((database) => makePayer(database, creditUsd, settings));
  return { id, secret, email, creditNanos: parseNanos(creditUsd) };
}

function readSettledBalance(withDatabase: WithDatabase, key: TestKey): Promise<bigint> {
  return withDatabase(async (database) => {
    const deadline = performance.now() + SETTLED_WITHIN_MS;
    for (;;) {
      const account = await new Accounts(database).find(key.email);
      if (account?.held === 0n) return account.balance;
      if (performance.now() > deadline) throw new Error(`of ${key.email} there is still held: ${account?.held}`);
      await Bun.sleep(SETTLED_POLL_MS);
    }
  });
}

function readResidentBytes(child: ChildProcess): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/u.exec(status)?.[1]) * 1024;
}

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, 'exit');
    child.kill(signal);
    const late = Bun.sleep(EXIT_WITHIN_MS).then(() => 'late' as const);
    if ((await Promise.race([exited, late])) === 'late') {
      child.kill('SIGKILL');
      throw new Error(`the server did not end within ${EXIT_WITHIN_MS} ms of ${signal}`);
    }
  }
  return child.exitCode;
}

function parseLogLine(line: string): JsonObject[] {
  if (!line.startsWith('{')) return [];
  try {
    return [JSON.parse(line) as JsonObject];
  } catch {
    // A line that starts like JSON but is not, such as part of a pretty-printed message.
    return [];
  }
}
