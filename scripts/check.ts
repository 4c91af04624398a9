/** `npm run check`: runs all static checks. Prints which failed and how long each took. */

const CHECKS: readonly (readonly [name: string, command: readonly string[]])[] = [
  ['format', ['oxfmt', '--check']],
  ['lint', ['oxlint', '--type-aware', '--deny-warnings']],
  // Several checkers would work out the same types several times, and the checks run side by side anyway.
  ['types', ['tsc', '--checkers', '1', '--project', '.']],
  ['types of the dashboard', ['tsc', '--checkers', '1', '--project', 'web']],
  ['unused code', ['knip', '--no-progress']],
  [
    'tidy',
    ['bun', 'test', '--timeout=60000', 'test/tidy.test.ts', 'test/layers.test.ts', 'test/operations-doc.test.ts', 'test/web/kit.test.ts'],
  ],
];

/** The linter and the type checker are Go programs, which spend a third of their time on collecting garbage unless they may use more memory. */
const env = { ...process.env, NO_COLOR: '1', GOGC: '400' };

const results = await Promise.all(
  CHECKS.map(async ([name, command]) => {
    const startedAtMs = performance.now();
    const child = Bun.spawn([...command], { stdout: 'pipe', stderr: 'pipe', env });
    const output = (await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])).join('');
    return { name, isFine: (await child.exited) === 0, output, seconds: (performance.now() - startedAtMs) / 1000 };
  }),
);

for (const { name, isFine, output, seconds } of results) {
  console.log(`${isFine ? 'ok    ' : 'FAILED'}  ${name} (${seconds.toFixed(1)} s)`);
  if (!isFine) console.log(output);
}
process.exit(results.every((result) => result.isFine) ? 0 : 1);
