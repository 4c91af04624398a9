/** `npm run build`: builds dist/tollgate, one self-contained executable with the runtime and the dashboard. */
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PROGRAMS } from './build-server.ts';
import { buildWeb } from './build-web.ts';

const WEB = resolve(import.meta.dirname, '../dist/web');

const isWebBuilt = await buildWeb();
const result = await Bun.build({
  entrypoints: PROGRAMS,
  // A file bunfig.toml in the folder where someone runs the executable could otherwise have it run any code.
  compile: { outfile: 'dist/tollgate', autoloadBunfig: false },
  minify: true,
  splitting: true,
  plugins: [
    {
      name: 'dashboard files',
      setup: (build) => {
        build.onLoad({ filter: /dashboard\/embedded-files\.ts$/u }, () => ({ loader: 'ts', contents: embeddedFilesModule() }));
      },
    },
  ],
});
for (const line of result.logs) console.error(line);
const isBuilt = isWebBuilt && result.success;
console.log(isBuilt ? 'dist/tollgate' : 'The build failed.');
process.exit(isBuilt ? 0 : 1);

/** Returns a module that embeds every dashboard file in the executable. */
function embeddedFilesModule(): string {
  const names = readdirSync(WEB);
  const imports = names.map((name, index) => `import file${index} from ${JSON.stringify(join(WEB, name))} with { type: 'file' };`);
  const entries = names.map((name, index) => `[${JSON.stringify(name)}, file${index}]`);
  return `${imports.join('\n')}\nexport const embeddedFiles = new Map([${entries.join(', ')}]);\n`;
}
