import { afterAll, beforeAll, expect, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MAIN } from '../services/built.ts';

const PROJECT = join(import.meta.dirname, '..', '..');

let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-output-'));
  writeFileSync(join(folder, 'tollgate.yaml'), '');
  await runInto('> /dev/null', 'migrate');
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a command with its output redirected by a shell; returns the exit code and standard error. */
async function runInto(output: string, command: string): Promise<{ readonly code: number | null; readonly stderr: string }> {
  const settings = { TOLLGATE_CONFIG: join(folder, 'tollgate.yaml'), TOLLGATE_DATA: join(folder, 'data') };
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, ...settings };
  const child = spawn('bash', ['-c', `"$0" "$@" ${output}`, process.execPath, MAIN, ...command.split(' ')], { cwd: PROJECT, env });
  const chunks = Array.fromAsync(child.stderr as AsyncIterable<Buffer>);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stderr: Buffer.concat(await chunks).toString() };
}

test.each(['models list --all', 'usage export'])('a full disk under the output is reported in one line: %s', async (command) => {
  const stderr = 'The output could not be written: ENOSPC: no space left on device, write\n';
  expect(await runInto('> /dev/full', command)).toEqual({ code: 1, stderr });
});

test('a closed pipe is not reported as a failure', async () => {
  // The pipe is closed before the command writes.
  expect(await runInto('| true', 'models list --all')).toEqual({ code: 0, stderr: '' });
});
