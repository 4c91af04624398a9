import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MAIN } from '../services/built.ts';
import type { JsonObject } from '../simulator/wire.ts';

const PROJECT = join(import.meta.dirname, '..', '..');

/** A command's exit code and output. */
interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `tollgate models …` with these settings. */
export async function runModels(
  settings: JsonObject,
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-models-'));
  const config = join(folder, 'tollgate.yaml');
  await writeFile(config, JSON.stringify(settings));
  const child = spawn(process.execPath, [MAIN, 'models', ...args], {
    cwd: PROJECT,
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, TOLLGATE_CONFIG: config, NO_COLOR: '1', ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = [child.stdout, child.stderr].map((stream) => Array.fromAsync(stream as AsyncIterable<Buffer>));
  const [code] = (await once(child, 'close')) as [number | null];
  await rm(folder, { recursive: true, force: true });
  return { code, stdout: Buffer.concat((await stdout) ?? []).toString(), stderr: Buffer.concat((await stderr) ?? []).toString() };
}

/** Returns a model entry of the settings file. */
export function entry(id: string, changes: JsonObject = {}): JsonObject {
  return {
    id,
    provider: 'team',
    context_length: 100_000,
    max_output_tokens: 4000,
    price: { input: 1, output: 2 },
    routes: [{ provider: 'mock', model: 'gpt-x' }],
    ...changes,
  };
}
