/** Bundles the dashboard (web/) into dist/web, with compressed copies beside the files; `npm start` does so before it starts. */
import tailwind from 'bun-plugin-tailwind';
import { basename, join, resolve } from 'node:path';
import { constants, brotliCompressSync, gzipSync } from 'node:zlib';
import { removeOthers } from './build-server.ts';

const ROOT = resolve(import.meta.dirname, '..');
const OUT = join(ROOT, 'dist/web');
const COMPRESSIBLE = /\.(?:html|js|css|svg|json)$/u;

if (import.meta.main && !(await buildWeb())) process.exit(1);

/** True when it worked; what went wrong is printed. */
export async function buildWeb(): Promise<boolean> {
  const result = await Bun.build({
    entrypoints: [join(ROOT, 'web/index.html')],
    outdir: OUT,
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
  await removeOthers(OUT, result.outputs);
  for (const { path } of result.outputs.filter((output) => output.path.endsWith('.css'))) await bringFonts(path);
  for (const { path } of result.outputs.filter((output) => COMPRESSIBLE.test(output.path))) {
    const bytes = await Bun.file(path).bytes();
    await Bun.write(`${path}.gz`, gzipSync(bytes, { level: 9 }));
    await Bun.write(`${path}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }));
  }
  return true;
}

/** Puts the fonts of a stylesheet beside it. Left to itself the bundler writes them into it, which our own content policy forbids. */
async function bringFonts(stylesheet: string): Promise<void> {
  let text = await Bun.file(stylesheet).text();
  for (const [quoted, path = ''] of text.matchAll(/url\("?([^")]+\.woff2)"?\)/gu)) {
    const bytes = await Bun.file(join(ROOT, 'web', path)).bytes();
    const name = `${basename(path, '.woff2')}-${Bun.hash(bytes).toString(36)}.woff2`;
    await Bun.write(join(OUT, name), bytes);
    text = text.replace(quoted, `url(/assets/${name})`);
  }
  await Bun.write(stylesheet, text);
}
