/** `npm run build`: one self-contained executable, dist/tollgate, with the runtime and everything else inside. */

const result = await Bun.build({
  // The ledger's writer is started by name as a thread of its own, so it must be named here to be taken along.
  entrypoints: ['./src/main.ts', './src/ledger/sqlite-writer.ts'],
  compile: { outfile: 'dist/tollgate' },
  minify: true,
});
for (const line of result.logs) console.error(line);
console.log(result.success ? 'dist/tollgate' : 'The build failed.');
process.exit(result.success ? 0 : 1);
