/** Bundles the server (src/) into dist/server. The bundle starts faster than hundreds of files and takes ten megabytes less. */
import { join, resolve } from 'node:path';
import { readOutputs, writeBuilt } from './write-built.ts';

const ROOT = resolve(import.meta.dirname, '..');
const OUT = join(ROOT, 'dist/server');

/** The server's programs. Threads are started by file name, so the bundler does not find them by itself. */
export const PROGRAMS = [
  'main.ts',
  'ledger/checkpoint-worker.ts',
  'ledger/verify-worker.ts',
  'gateway/count-tokens-worker.ts',
  'dashboard/worker.ts',
].map((path) => join(ROOT, 'src', path));

/** Builds the bundle. Returns true if it succeeded, and prints errors otherwise. */
export async function buildServer({ out = OUT, plugins = [] }: { out?: string; plugins?: Bun.BunPlugin[] } = {}): Promise<boolean> {
  const result = await Bun.build({
    entrypoints: PROGRAMS,
    root: join(ROOT, 'src'),
    target: 'bun',
    splitting: true,
    // Hundreds of small files would take longer to load.
    minChunkSize: 16_384,
    minify: true,
    // Stack traces show the lines of the sources.
    sourcemap: 'linked',
    // The output must not depend on the builder's environment: otherwise a rebuild would change files under a running server.
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins,
    throw: false,
  });
  for (const line of result.logs) console.error(line);
  if (result.success) await writeBuilt(out, await readOutputs(result.outputs));
  return result.success;
}
