import { expect, test } from 'bun:test';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateFolder } from './private-folder.ts';
import { areGone, childrenOf, isRunning, signalProcess } from './processes.ts';

const GONE_WITHIN_MS = 10_000;

/** A program that starts another one in a folder, prints that, and then waits. */
const PARENT = `
  import { makePrivateFolder } from ${JSON.stringify(import.meta.resolve('./private-folder.ts'))};
  const folder = await makePrivateFolder({ name: 'orphan', stopSignal: 'SIGTERM' });
  const { pid } = await folder.start(['sleep', '600'], async () => true);
  console.log(JSON.stringify({ path: folder.path, pid }));
  await Bun.sleep(600_000);
`;

async function startParent(): Promise<{ parent: Bun.Subprocess<'ignore', 'pipe', 'pipe'>; path: string; pid: number }> {
  const parent = Bun.spawn([process.execPath, '-e', PARENT], { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' });
  const { value } = await parent.stdout.getReader().read();
  return { parent, ...(JSON.parse(new TextDecoder().decode(value)) as { path: string; pid: number }) };
}

test.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)('a parent killed by %s leaves no process and no folder', async (signal) => {
  const { parent, path, pid } = await startParent();
  expect(isRunning(pid)).toBeTrue();
  expect(existsSync(path)).toBeTrue();

  parent.kill(signal);
  // Standard error closes when the reaper has ended.
  expect(await new Response(parent.stderr).text()).toBe('');
  expect(await areGone([pid], 0)).toBeTrue();
  expect(existsSync(path)).toBeFalse();
});

test('a test runner that kills everything it has started, as after a timeout, leaves no folder', async () => {
  const { parent, path, pid } = await startParent();
  for (const child of childrenOf(parent.pid)) signalProcess(child, 'SIGTERM');
  expect(await areGone([pid], GONE_WITHIN_MS)).toBeTrue();
  parent.kill('SIGKILL');
  expect(await new Response(parent.stderr).text()).toBe('');
  expect(existsSync(path)).toBeFalse();
});

test('programs in a private folder do not run as root, and nobody else can read the folder', async () => {
  const folder = await makePrivateFolder({ name: 'rights', stopSignal: 'SIGTERM' });
  await folder.run(['sh', '-c', 'test "$(id -u)" != 0 && touch mine']);
  expect(existsSync(join(folder.path, 'mine'))).toBeTrue();
  expect(statSync(folder.path).mode & 0o777).toBe(0o700);
  await folder.remove();
});

test('a program that fails, or ends before it responds, is reported with its output', async () => {
  const folder = await makePrivateFolder({ name: 'failure', stopSignal: 'SIGTERM' });
  const command = ['sh', '-c', 'echo no such coin; exit 3'] as const;
  await expect(folder.run(command)).rejects.toThrow('no such coin');
  await expect(folder.start(command, async () => false)).rejects.toThrow('no such coin');
  await folder.remove();
});

test('a program that ignores the stop signal is killed', async () => {
  const folder = await makePrivateFolder({ name: 'stubborn', stopSignal: 'SIGHUP' });
  const script = 'trap "" HUP; touch ready; while :; do sleep 1; done';
  const { pid } = await folder.start(['sh', '-c', script], async () => existsSync(join(folder.path, 'ready')));
  await folder.remove();
  expect(await areGone([pid], 0)).toBeTrue();
  expect(existsSync(folder.path)).toBeFalse();
});
