/** `npm run build`: one self-contained executable, dist/tollgate, with the runtime and everything else inside. */

const result = await Bun.build({
  // Threads are started by name, so their files must be named here to be taken along.
  entrypoints: [
    './src/main.ts',
    './src/ledger/sqlite-writer.ts',
    './src/ledger/reconcile-worker.ts',
    './src/gateway/count-tokens-worker.ts',
  ],
  compile: { outfile: 'dist/tollgate' },
  minify: true,
});
for (const line of result.logs) console.error(line);
console.log(result.success ? 'dist/tollgate' : 'The build failed.');
process.exit(result.success ? 0 : 1);
