/** Bundles the dashboard (web/) into dist/web, with compressed copies beside the files. `npm start` runs this first. */
import tailwind from 'bun-plugin-tailwind';
import { basename, join, resolve } from 'node:path';
import { constants, brotliCompressSync, gzipSync } from 'node:zlib';
import { readOutputs, writeBuilt, type BuiltFiles } from './write-built.ts';

const ROOT = resolve(import.meta.dirname, '..');
const OUT = join(ROOT, 'dist/web');
const COMPRESSIBLE = /\.(?:html|js|css|svg|json)$/u;

if (import.meta.main && !(await build())) process.exit(1);

/**
 * Builds the dashboard. Returns true if it succeeded, and prints errors otherwise. Runs in a separate process with a fixed folder and
 * environment, because the bundler's output depends on them: a different output would remove files under a running server.
 */
export async function buildWeb(): Promise<boolean> {
  const env = { ...process.env, NODE_ENV: 'production' };
  return (await Bun.spawn([process.execPath, import.meta.path], { cwd: ROOT, env, stdio: ['ignore', 'ignore', 'inherit'] }).exited) === 0;
}

async function build(): Promise<boolean> {
  const result = await Bun.build({
    entrypoints: [join(ROOT, 'web/index.html')],
    plugins: [tailwind],
    splitting: true,
    minify: true,
    external: ['*.woff2'],
    publicPath: '/assets/',
    naming: { entry: '[name].[ext]', chunk: '[name]-[hash].[ext]', asset: '[name]-[hash].[ext]' },
    define: { 'process.env.NODE_ENV': '"production"' },
    throw: false,
  });
  for (const line of result.logs) console.error(line);
  if (!result.success) return false;
  const files = await readOutputs(result.outputs);
  for (const name of [...files.keys()].filter((each) => each.endsWith('.css'))) await extractFonts(files, name);
  for (const [name, bytes] of [...files].filter(([each]) => COMPRESSIBLE.test(each))) {
    files.set(`${name}.gz`, gzipSync(bytes, { level: 9 }));
    files.set(`${name}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }));
  }
  await writeBuilt(OUT, files);
  return true;
}

/** Puts the fonts of a stylesheet beside it. By default the bundler inlines them, which our content security policy forbids. */
async function extractFonts(files: BuiltFiles, stylesheet: string): Promise<void> {
  let text = Buffer.from(files.get(stylesheet) ?? []).toString();
  for (const [quoted, path = ''] of text.matchAll(/url\("?([^")]+\.woff2)"?\)/gu)) {
    const bytes = await Bun.file(join(ROOT, 'web', path)).bytes();
    const name = `${basename(path, '.woff2')}-${Bun.hash(bytes).toString(36)}.woff2`;
    files.set(name, bytes);
    text = text.replace(quoted, `url(/assets/${name})`);
  }
  files.set(stylesheet, Buffer.from(text));
}
