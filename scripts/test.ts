/** `npm test [-- file…]`: runs the tests and closes with the one line that every tool understands. */

const child = Bun.spawn([process.execPath, 'test', ...process.argv.slice(2)], { stdin: 'ignore', stdout: 'inherit', stderr: 'pipe' });
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
