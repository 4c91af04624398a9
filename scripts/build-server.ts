/** Bundles the server (src/) into dist/server: from one file instead of hundreds it starts sooner and takes ten megabytes less. */
import { readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
const OUT = join(ROOT, 'dist/server');

/** The programs that make up the server. Threads are started by name, so their files must be named here to be taken along. */
export const PROGRAMS = [
  'main.ts',
  'ledger/log-writer.ts',
  'ledger/reconcile-worker.ts',
  'gateway/count-tokens-worker.ts',
  'dashboard/worker.ts',
].map((path) => join(ROOT, 'src', path));

/** True when it worked; what went wrong is printed. */
export async function buildServer(): Promise<boolean> {
  const result = await Bun.build({
    entrypoints: PROGRAMS,
    outdir: OUT,
    root: join(ROOT, 'src'),
    target: 'bun',
    splitting: true,
    minify: true,
    // Errors are told with the lines of the sources.
    sourcemap: 'linked',
    throw: false,
  });
  for (const line of result.logs) console.error(line);
  if (result.success) await removeOthers(OUT, result.outputs);
  return result.success;
}

/** Leaves only these files in a folder. It is not emptied before: a server that runs may just now need one that stays. */
export async function removeOthers(folder: string, outputs: readonly { readonly path: string }[]): Promise<void> {
  const wanted = new Set(outputs.map(({ path }) => path));
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const file of files) if (!wanted.has(file)) await rm(file);
}
