/** Bundles the dashboard (web/) into dist/web, with compressed copies beside the files. `npm start` runs this first. */
import tailwind from 'bun-plugin-tailwind';
import { basename, join, resolve } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync, gzipSync } from 'node:zlib';
import { readOutputs, writeBuilt, type BuiltFiles } from './write-built.ts';

const ROOT = resolve(import.meta.dirname, '..');
const OUT = join(ROOT, 'dist/web');

interface Packer {
  readonly ending: string;
  readonly pack: (bytes: Uint8Array) => Uint8Array;
  readonly unpack: (bytes: Uint8Array) => Uint8Array;
}

const GZIP: Packer = { ending: '.gz', pack: (bytes) => gzipSync(bytes, { level: 9 }), unpack: (bytes) => gunzipSync(bytes) };
const BROTLI: Packer = {
  ending: '.br',
  pack: (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
  unpack: (bytes) => brotliDecompressSync(bytes),
};
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
    // Otherwise a page consists of thirty files and more, most of them below a kilobyte.
    minChunkSize: 8192,
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
    for (const packer of [GZIP, BROTLI]) files.set(name + packer.ending, (await keptCopy(name, bytes, packer)) ?? packer.pack(bytes));
  }
  await writeBuilt(OUT, files);
  return true;
}

/** Returns the compressed copy from the last build if it contains these bytes: compressing takes most of the time, unpacking hardly any. */
async function keptCopy(name: string, bytes: Uint8Array, { ending, unpack }: Packer): Promise<Uint8Array | undefined> {
  try {
    const copy = await Bun.file(join(OUT, name + ending)).bytes();
    return Buffer.compare(unpack(copy), bytes) === 0 ? copy : undefined;
  } catch {
    // There is none, or it is damaged.
    return undefined;
  }
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
