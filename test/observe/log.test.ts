import { expect, test } from 'bun:test';
import { openLog } from '../../src/observe/log.ts';

/** Returns the log lines of a program. The log writes to standard error. */
function linesOf(program: () => void): Record<string, unknown>[] {
  const script = `const { openLog } = await import(${JSON.stringify(import.meta.resolve('../../src/observe/log.ts'))}); (${String(program)})();`;
  const { stderr } = Bun.spawnSync([process.execPath, '-e', script]);
  return stderr
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('no part of an error message is logged, even if it looks like a stack', () => {
  const lines = linesOf(() => {
    const changed = new Error('550 rejected\nat mailbox secret-user@example.com');
    // Once the stack has been read, it keeps the original message.
    String(changed.stack);
    changed.message = 'another';
    const log = openLog('info');
    log.internalError('an email could not be sent', new Error('550 rejected\n    at mailbox secret-user@example.com'));
    log.internalError('an email could not be sent', changed);
    log.internalError('nothing was said', new TypeError());
  });
  expect(lines).toMatchObject([
    { cause: 'Error', at: expect.arrayContaining([expect.stringMatching(/^at .*:\d+/u)]) },
    { cause: 'Error', at: [] },
    { cause: 'TypeError', at: expect.arrayContaining([expect.stringMatching(/^at .*:\d+/u)]) },
  ]);
  expect(JSON.stringify(lines)).not.toContain('secret');
});
