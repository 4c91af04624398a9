import { afterAll, expect, test } from 'bun:test';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MAIN } from '../services/built.ts';

const PROJECT = join(import.meta.dirname, '..', '..');
const THREADS = 'UV_THREADPOOL_SIZE';
const KEEPS_CODE = 'BUN_JSC_forceCodeBlockLiveness';
const folder = await mkdtemp(join(tmpdir(), 'tollgate-starting-'));
const settings = join(folder, 'tollgate.yaml');
await writeFile(settings, '');
const children = new Set<ChildProcess>();
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

/** Starts a server on a data folder, which it creates. */
function start(data: string, variables: Readonly<Record<string, string>> = {}, cwd = PROJECT): ChildProcess {
  const env = { PATH: process.env['PATH'], TOLLGATE_CONFIG: settings, TOLLGATE_DATA: data, PORT: '0', ...variables };
  const child = spawn(process.execPath, [join(PROJECT, MAIN), 'serve'], { cwd, env, stdio: ['ignore', 'pipe', 'ignore'] });
  children.add(child);
  child.once('close', () => children.delete(child));
  return child;
}

/** Returns everything that a server prints before it ends. */
async function printed(child: ChildProcess): Promise<string> {
  let text = '';
  for await (const bytes of child.stdout ?? []) text += String(bytes);
  return text;
}

async function stop(child: ChildProcess): Promise<unknown> {
  const end = once(child, 'close');
  child.kill('SIGTERM');
  return (await end)[0];
}

/** Waits until a server has begun to start: the first thing it does is to lock its data folder. */
async function hasBegun(child: ChildProcess, data: string): Promise<void> {
  while (!existsSync(join(data, 'server.lock')) && child.exitCode === null) await Bun.sleep(1);
}

test('a server that is stopped while it starts exits with code 0 and leaves the welcome to the next start', async () => {
  const data = join(folder, 'stopped');
  const stopped = start(data);
  const text = printed(stopped);
  await hasBegun(stopped, data);
  expect(await stop(stopped)).toBe(0);
  expect(await text).not.toContain('sk-tg-');

  const next = start(data);
  for await (const bytes of next.stdout ?? []) if (String(bytes).includes('sk-tg-')) break;
  expect(await stop(next)).toBe(0);
});

test.each([
  ['', '32'],
  ['5', '5'],
])('a server started with UV_THREADPOOL_SIZE=%p has %p threads for name lookups and the disk', async (chosen, expected) => {
  const data = join(folder, `threads-${chosen}`);
  const server = start(data, { [THREADS]: chosen });
  await hasBegun(server, data);
  expect(environmentOf(server).filter((variable) => variable.startsWith(THREADS))).toEqual([`${THREADS}=${expected}`]);
  expect(await stop(server)).toBe(0);
});

test.each([
  [{}, '1'],
  [{ [KEEPS_CODE]: '0' }, '0'],
])('a server started with %j keeps its compiled code: %p', async (variables, expected) => {
  const data = join(folder, `code-${expected}`);
  const server = start(data, variables);
  await hasBegun(server, data);
  expect(environmentOf(server)).toContain(`${KEEPS_CODE}=${expected}`);
  expect(await stop(server)).toBe(0);
});

test('a number of threads in .env counts, and nothing else of the file gets into the environment', async () => {
  await writeFile(join(folder, '.env'), `${THREADS}=7\nOPENAI_API_KEY=from-the-file\n`);
  const data = join(folder, 'threads-by-file');
  const server = start(data, {}, folder);
  await hasBegun(server, data);
  expect(environmentOf(server)).toContain(`${THREADS}=7`);
  expect(environmentOf(server).join(' ')).not.toContain('from-the-file');
  expect(await stop(server)).toBe(0);
});

/** Returns the environment in which a process was started, which is where the runtime finds the number of its threads. */
function environmentOf({ pid }: ChildProcess): string[] {
  return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
}
