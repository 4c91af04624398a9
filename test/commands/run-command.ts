import { join } from 'node:path';
import { MAIN } from '../services/built.ts';
import type { Gate } from '../simulator/gate.ts';

const PROJECT = join(import.meta.dirname, '..', '..');

/** A command's exit code and everything that it printed. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command as a person does whose output goes to a pipe. */
export async function runCommand(args: readonly string[], variables: Readonly<Record<string, string>>): Promise<Ended> {
  const env = { PATH: process.env['PATH'] ?? '', NO_COLOR: '1', ...variables };
  const child = Bun.spawn([process.execPath, MAIN, ...args], { cwd: PROJECT, env, stdin: 'ignore', stderr: 'pipe' });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, stdout, stderr };
}

/** Returns the variables for commands that work on the same data as a server. */
export function variablesOf({ dataFolder }: Gate): Record<string, string> {
  const folder = join(dataFolder, '..');
  return { HOME: folder, TOLLGATE_DATA: dataFolder, TOLLGATE_CONFIG: join(folder, 'tollgate.yaml'), MOCK_KEY: 'unused' };
}
