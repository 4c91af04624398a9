import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Accounts } from '../../src/accounts/accounts.ts';
import { Keys } from '../../src/accounts/keys.ts';
import { openKysely } from '../../src/database/kysely.ts';
import { migrate } from '../../src/database/migrate.ts';
import { MAIN } from '../services/built.ts';
import type { JsonObject } from '../simulator/wire.ts';
import { until } from '../until.ts';

const PROJECT = join(import.meta.dirname, '..', '..');
const SERVE = [process.execPath, MAIN, 'serve'];
const WITHIN_MS = 30_000;
/** `npm start` bundles first, which takes a busy machine a while. */
const STARTED_WITHIN_MS = 60_000;
const BY_NPM_MS = 120_000;
const LISTENS = /^Tollgate listens on (http:\/\/\S+)\/v1$/mu;
const WELCOME_END = 'to enable its models.';
const CHAT = { model: 'sandbox/story', messages: [{ role: 'user', content: 'Tell me a story' }] };

/** A running program, and its output so far. */
interface Running {
  readonly child: ChildProcess;
  readonly exit: Promise<number | null>;
  stdout(): string;
  stderr(): string;
}

let folder: string;
let env: Record<string, string>;
const children = new Set<ChildProcess>();
process.on('exit', endAll);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-life-'));
  const settings = join(folder, 'tollgate.yaml');
  await writeFile(settings, '');
  // The environment of an ordinary start.
  env = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    TOLLGATE_CONFIG: settings,
    PORT: '0',
    OPENAI_API_KEY: 'sk-none',
    AZURE_OPENAI_API_KEY: 'sk-half',
    npm_config_update_notifier: 'false',
  };
});
afterAll(async () => {
  endAll();
  await rm(folder, { recursive: true, force: true });
});

function endAll(): void {
  for (const child of children) killGroup(child);
}

/** Kills a child and every process it started: each child leads its own process group. */
function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group has already ended.
  }
}

function start(command: readonly string[], variables: Readonly<Record<string, string>>): Running {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { cwd: PROJECT, env: { ...env, ...variables }, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (bytes: Buffer) => out.push(bytes));
  child.stderr.on('data', (bytes: Buffer) => err.push(bytes));
  children.add(child);
  const exit = once(child, 'close').then(([code]: (number | null)[]) => {
    children.delete(child);
    return code ?? null;
  });
  return { child, exit, stdout: () => Buffer.concat(out).toString(), stderr: () => Buffer.concat(err).toString() };
}

/** Runs a command to its end. */
async function run(command: readonly string[], data: string): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const running = start(command, { TOLLGATE_DATA: data });
  const code = await within(running.exit);
  return { code, stdout: running.stdout(), stderr: running.stderr() };
}

async function within<Result>(promise: Promise<Result>): Promise<Result> {
  const late = Bun.sleep(WITHIN_MS).then((): never => {
    throw new Error(`nothing within ${WITHIN_MS} ms`);
  });
  return Promise.race([promise, late]);
}

/** Starts the server and returns its address once it has printed the expected text. */
async function serve(
  data: string,
  { command = SERVE, printed = LISTENS }: { command?: readonly string[]; printed?: RegExp | string } = {},
): Promise<Running & { origin: string }> {
  const running = start(command, { TOLLGATE_DATA: data });
  const deadline = performance.now() + STARTED_WITHIN_MS;
  while (running.stdout().match(printed) === null) {
    if (performance.now() > deadline || running.child.exitCode !== null) throw new Error(`${running.stdout()}\n${running.stderr()}`);
    await Bun.sleep(10);
  }
  // The server prints its address shortly before it handles signals.
  await Bun.sleep(100);
  return { ...running, origin: LISTENS.exec(running.stdout())?.[1] ?? '' };
}

/** The last lines of a process may be read after its exit. */
async function untilEnded(running: Running): Promise<void> {
  await until(() => running.stderr().includes('"msg":"ended"'));
}

function stop(running: Running, signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
  running.child.kill(signal);
  return within(running.exit);
}

function ask(origin: string, secret: string, body: object): Promise<Response> {
  return fetch(`${origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

function secretIn(text: string): string {
  const secret = /sk-tg-[0-9A-Za-z]+/u.exec(text)?.[0];
  if (secret === undefined) throw new Error(`no key in: ${text}`);
  return secret;
}

describe('the first start', () => {
  let data: string;
  let server: Running & { origin: string };
  let curl: string;

  beforeAll(async () => {
    data = join(folder, 'first');
    server = await serve(data, { printed: WELCOME_END });
    curl = /^ *curl [^]*?\}'$/mu.exec(server.stdout())?.[0] ?? '';
  });

  test('prints the address, a command to try and the link for the operator', () => {
    expect(server.origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/u);
    expect(curl).toContain(`${server.origin}/v1/chat/completions`);
    expect(curl).toContain(`Bearer ${secretIn(server.stdout())}`);
    expect(server.stdout()).toMatch(/\/setup\?token=[\w-]{43}\n/u);
    expect(server.stdout().split('sk-tg-')).toHaveLength(2);
    expect(existsSync(join(data, 'tollgate.db'))).toBe(true);
  });

  test('logs what an incomplete provider lacks, and no key', () => {
    expect(server.stderr()).toMatch(/"level":"warn".*"provider":"azure","missing":\["AZURE_OPENAI_RESOURCE"\]/u);
    expect(server.stderr()).not.toMatch(/sk-tg-|sk-half/u);
  });

  test('prints a command that works when it is pasted', async () => {
    const { code, stdout } = await run(['bash', '-c', curl], data);
    expect(code).toBe(0);
    const answer = JSON.parse(stdout) as JsonObject & { choices: { message: { content: string } }[]; usage: Record<string, number> };
    expect(answer).toMatchObject({ object: 'chat.completion', model: 'sandbox/story', choices: [{ finish_reason: 'stop' }] });
    expect(answer.choices[0]?.message.content).toStartWith('Once there was a gate');
    expect(answer.usage['total_tokens']).toBe((answer.usage['prompt_tokens'] ?? 0) + (answer.usage['completion_tokens'] ?? 0));
  });

  test('prints a command that streams with "stream": true', async () => {
    const streaming = curl.replace(/\}'$/u, `, "stream": true}'`);
    const { code, stdout } = await run(['bash', '-c', streaming], data);
    expect(code).toBe(0);
    expect(stdout).toStartWith('data: {"');
    expect(stdout).toEndWith('data: [DONE]\n\n');
    expect(stdout.split('\n\n').length).toBeGreaterThan(20);
  });

  test.each([
    ['openai/gpt-5', 403, 'model_not_allowed'],
    ['nobody/nothing', 404, 'model_not_found'],
  ])('prints a key that may not call %s', async (model, status, code) => {
    const response = await ask(server.origin, secretIn(server.stdout()), { ...CHAT, model });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { code } });
  });

  test('prints a key that lists the sandbox models and no others', async () => {
    const headers = { authorization: `Bearer ${secretIn(server.stdout())}` };
    const { data: models } = (await (await fetch(`${server.origin}/v1/models`, { headers })).json()) as { data: { id: string }[] };
    expect(models.map((model) => model.id).toSorted()).toEqual(['sandbox/echo', 'sandbox/hello', 'sandbox/story']);
  });

  test('prints a link that creates the operator account, once', async () => {
    const link = new URL(/http\S+\/setup\?token=\S+/u.exec(server.stdout())?.[0] ?? '');
    const setUp = (email: string): Promise<Response> =>
      fetch(`${server.origin}/api/setup`, {
        method: 'POST',
        headers: { origin: server.origin, 'content-type': 'application/json' },
        body: JSON.stringify({ token: link.searchParams.get('token'), email, password: 'four quiet storks' }),
      });
    expect((await setUp('you@example.com')).status).toBe(200);
    expect((await setUp('other@example.com')).status).toBe(403);
    const shown = await run([...SERVE.slice(0, 2), 'account', 'show', '--email', 'you@example.com'], data);
    expect(shown.stdout).toContain('you@example.com (operator), active');
  }, 120_000);

  test('locks the data folder: a second server is refused, and the first keeps running', async () => {
    const { code, stdout, stderr } = await run(SERVE, data);
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain(`Another Tollgate server already uses the data folder ${data}.`);
    expect(stderr).toContain('TOLLGATE_DATA');
    expect(stderr).not.toContain('    at ');
    expect((await fetch(`${server.origin}/readyz`)).status).toBe(200);
  });

  test('is the only one that prints a key and the operator link', async () => {
    expect(await stop(server)).toBe(0);
    const second = await serve(data);
    expect(second.stdout()).toMatch(LISTENS);
    expect(second.stdout()).not.toContain('sk-tg-');
    expect(second.stdout()).not.toContain('/setup');
    expect((await ask(second.origin, secretIn(server.stdout()), { ...CHAT, max_tokens: 3 })).status).toBe(200);
    expect(await stop(second)).toBe(0);
  });
});

test('a start after one that was killed before it printed anything still counts as the first', async () => {
  const data = join(folder, 'killed');
  const database = openKysely(join(data, 'tollgate.db'));
  await migrate(database, 'sqlite');
  // The state of a process that ended after it created the account and before it created the link.
  const trial = await new Accounts(database).create('trial@localhost', false);
  await new Keys(database).create(trial?.id ?? '', { name: 'trial' });
  await database.destroy();

  const server = await serve(data, { printed: WELCOME_END });
  expect(server.stdout()).toMatch(/\/setup\?token=[\w-]{43}\n/u);
  expect((await ask(server.origin, secretIn(server.stdout()), CHAT)).status).toBe(200);
  expect(await stop(server)).toBe(0);
  const second = await serve(data);
  expect(second.stdout()).not.toContain('sk-tg-');
  expect(await stop(second)).toBe(0);
});

describe('a shutdown', () => {
  let server: Running & { origin: string };
  let count = 0;
  const freshData = (): string => join(folder, `end-${(count += 1)}`);
  afterEach(() => killGroup(server.child));

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('ends with exit code 0 after %s', async (signal) => {
    server = await serve(freshData(), { printed: WELCOME_END });
    expect(await stop(server, signal)).toBe(0);
    await untilEnded(server);
  });

  test('does not start on SIGHUP if nohup started the server', async () => {
    server = await serve(freshData(), { command: ['nohup', ...SERVE], printed: WELCOME_END });
    server.child.kill('SIGHUP');
    await Bun.sleep(200);
    expect((await fetch(`${server.origin}/readyz`)).status).toBe(200);
    expect(await stop(server)).toBe(0);
  });

  test(
    'ends with exit code 0 after Ctrl-C, which npm and the server receive together',
    async () => {
      server = await serve(freshData(), { command: ['npm', 'start'], printed: WELCOME_END });
      process.kill(-(server.child.pid ?? 0), 'SIGINT');
      expect(await within(server.exit)).toBe(0);
      await untilEnded(server);
    },
    BY_NPM_MS,
  );

  test(
    'under npm waits for a running stream, although npm forwards Ctrl-C and the server receives it twice',
    async () => {
      server = await serve(freshData(), { command: ['npm', 'start'], printed: WELCOME_END });
      const running = await ask(server.origin, secretIn(server.stdout()), { ...CHAT, stream: true, max_tokens: 40 });
      process.kill(-(server.child.pid ?? 0), 'SIGINT');
      expect(await running.text()).toEndWith('data: [DONE]\n\n');
      expect(await within(server.exit)).toBe(0);
    },
    BY_NPM_MS,
  );

  test('waits for a running stream and refuses new requests', async () => {
    server = await serve(freshData(), { printed: WELCOME_END });
    const secret = secretIn(server.stdout());
    const { origin } = server;
    const text = (await ask(server.origin, secret, { ...CHAT, stream: true })).text();
    server.child.kill('SIGTERM');
    await until(async () => (await fetch(`${origin}/readyz`)).status === 503);

    const late = await ask(server.origin, secret, CHAT);
    expect(late.status).toBe(500);
    expect(late.headers.get('retry-after')).toMatch(/^[1-9]\d*$/u);
    expect(await late.json()).toMatchObject({ error: { type: 'server_error', code: 'draining' } });
    expect((await fetch(`${server.origin}/readyz`)).status).toBe(503);
    expect((await fetch(`${server.origin}/healthz`)).status).toBe(200);

    expect(await text).toEndWith('data: [DONE]\n\n');
    expect(await within(server.exit)).toBe(0);
  });

  test('ends at once on the second signal', async () => {
    server = await serve(freshData(), { printed: WELCOME_END });
    const response = await ask(server.origin, secretIn(server.stdout()), { ...CHAT, stream: true });
    const cut = response.text().catch(() => 'cut');
    server.child.kill('SIGTERM');
    // Sooner it would count as the same signal.
    await Bun.sleep(200);
    expect(await stop(server)).toBe(1);
    expect(await cut).not.toEndWith('data: [DONE]\n\n');
  });
});

test('a server whose output and log are on a full disk keeps running', async () => {
  const free = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } });
  const origin = `http://127.0.0.1:${free.port}`;
  free.stop(true);
  const command = ['bash', '-c', 'exec "$0" "$@" > /dev/full 2> /dev/full', ...SERVE];
  const server = start(command, { TOLLGATE_DATA: join(folder, 'mute'), PORT: String(free.port) });
  const isReady = (): Promise<boolean> =>
    fetch(`${origin}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(isReady);
  // Each of these writes a line to the log.
  for (const secret of ['sk-none', 'sk-nobody']) expect((await ask(origin, secret, CHAT)).status).toBe(401);
  expect(await isReady()).toBe(true);
  expect(await stop(server)).toBe(0);
});

test('a taken port is reported on standard error with exit code 1', async () => {
  const taken = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } });
  const running = start(SERVE, { TOLLGATE_DATA: join(folder, 'taken'), PORT: String(taken.port) });
  expect(await within(running.exit)).toBe(1);
  taken.stop(true);
  expect(running.stdout()).toBe('');
  expect(running.stderr()).toContain(String(taken.port));
});
