/** `npm test [-- file…]`: runs the tests and closes with the one line that every tool understands. */

import { buildWeb } from './build-web.ts';

/** A test may start the real server, so the default of five seconds is too short; bunfig.toml has no setting for it. */
const TIMEOUT_MS = 30_000;

// The tests open the pages as people get them.
if (!(await buildWeb())) process.exit(1);

const child = Bun.spawn([process.execPath, 'test', `--timeout=${TIMEOUT_MS}`, ...process.argv.slice(2)], {
  stdin: 'ignore',
  stdout: 'inherit',
  stderr: 'pipe',
});
// Ctrl-C reaches the tests by itself, other ends do not. Either way we stay until they have ended and their services are tidied up.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
let output = '';
const decoder = new TextDecoder();
for await (const bytes of child.stderr) {
  process.stderr.write(bytes);
  output += decoder.decode(bytes, { stream: true });
}
const exitCode = await child.exited;

const countOf = (word: string): number => Number(new RegExp(`^\\s*(\\d+) ${word}$`, 'm').exec(output)?.[1] ?? 0);
const [passed, failed, skipped] = [countOf('pass'), countOf('fail'), countOf('skip')];
// A test that was skipped on a developer's machine is a test that CI never ran.
const isSkipFailure = skipped > 0 && process.env['CI'] === 'true';
if (isSkipFailure) console.error(`${skipped} tests were skipped, which is a failure with CI=true.`);
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exit(passed === 0 || isSkipFailure ? exitCode || 1 : exitCode);
