/** `npm run check`: runs all static checks. Prints which failed and how long each took. */

const CHECKS: readonly (readonly [name: string, command: readonly string[]])[] = [
  ['format', ['oxfmt', '--check']],
  ['lint', ['oxlint', '--type-aware', '--deny-warnings']],
  ['types', ['tsc', '--project', '.']],
  ['types of the dashboard', ['tsc', '--project', 'web']],
  ['unused code', ['knip', '--no-progress']],
  ['tidy', ['bun', 'test', '--timeout=60000', 'test/tidy.test.ts', 'test/operations-doc.test.ts', 'test/web/kit.test.ts']],
];

const results = await Promise.all(
  CHECKS.map(async ([name, command]) => {
    const startedAtMs = performance.now();
    const child = Bun.spawn([...command], { stdout: 'pipe', stderr: 'pipe', env: { ...process.env, NO_COLOR: '1' } });
    const output = (await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])).join('');
    return { name, isFine: (await child.exited) === 0, output, seconds: (performance.now() - startedAtMs) / 1000 };
  }),
);

for (const { name, isFine, output, seconds } of results) {
  console.log(`${isFine ? 'ok    ' : 'FAILED'}  ${name} (${seconds.toFixed(1)} s)`);
  if (!isFine) console.log(output);
}
process.exit(results.every((result) => result.isFine) ? 0 : 1);
