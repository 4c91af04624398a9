import { spawn } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { expect, test } from 'bun:test';
import { GatewayError } from '../../src/errors.ts';
import { openLog } from '../../src/observe/log.ts';

/** Returns the log lines of a program. The log writes to standard error. */
function linesOf(program: () => void): Record<string, unknown>[] {
  const [log, errors] = ['../../src/observe/log.ts', '../../src/errors.ts'].map((path) => JSON.stringify(import.meta.resolve(path)));
  const script = `const { openLog } = await import(${log}); const { GatewayError } = await import(${errors}); (${String(program)})();`;
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

test('an event without an error has no cause', () => {
  const [line] = linesOf(() => openLog('info').internalError('the files are gone', undefined));
  expect(line).toEqual({ level: 'error', time: expect.any(String), msg: 'the files are gone' });
});

test('a request that a provider cannot carry is not logged as a failure of the provider', () => {
  const lines = linesOf(() => {
    const log = openLog('info');
    const fault = Object.assign(new Error('no'), { name: 'ProviderFault', status: 400 });
    const unsent = new GatewayError('provider_refused', 'no', { isUnsent: true, cause: fault });
    const media = new GatewayError('invalid_image_url', 'no');
    const refused = new GatewayError('provider_refused', 'no', { isUnsent: false, cause: fault });
    const down = new GatewayError('provider_unavailable', 'no', { cause: new Error('ECONNREFUSED') });
    for (const error of [unsent, media, refused, down]) log.attemptFailed({ requestId: 'req_1', model: 'a/b', provider: 'a', error });
  });
  expect(lines.map(({ level, error, provider_status, msg }) => [level, error, provider_status, msg])).toEqual([
    ['info', 'provider_refused', undefined, 'a provider cannot carry the request and was not called'],
    ['info', 'invalid_image_url', undefined, 'a provider cannot carry the request and was not called'],
    ['warn', 'provider_refused', 400, 'provider call failed'],
    ['warn', 'provider_unavailable', undefined, 'provider call failed'],
  ]);
});

test('a reader who stops reading does not hold up the program, and gets the lines once it reads again', async () => {
  const log = JSON.stringify(import.meta.resolve('../../src/observe/log.ts'));
  const script = `const { openLog } = await import(${log}); const log = openLog('info');
    for (let line = 0; line < 5000; line += 1) log.lifecycle('line', { line });
    console.log('done');
    process.stdin.once('data', async () => { log.lifecycle('last'); await log.flush(); process.exit(0); });`;
  const child = Bun.spawn([process.execPath, '-e', script], { stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' });
  // Standard error is not read until the program has written more than a pipe takes.
  const { value } = await child.stdout.getReader().read();
  expect(new TextDecoder().decode(value)).toBe('done\n');
  void child.stdin.write('go');
  await child.stdin.end();
  const lines = (await child.stderr.text()).trim().split('\n');
  expect(lines).toHaveLength(5001);
  expect(lines.at(-1)).toContain('"msg":"last"');
});

test('a program that ends waits a moment for a reader who is late', () => {
  const log = JSON.stringify(import.meta.resolve('../../src/observe/log.ts'));
  const script = `const { openLog } = await import(${log}); const log = openLog('info');
    for (let line = 0; line < 5000; line += 1) log.lifecycle('line', { line });
    await log.flush();
    process.exit(0);`;
  const { stdout } = Bun.spawnSync(['sh', '-c', '"$0" -e "$1" 2>&1 | (sleep 0.2; wc -l)', process.execPath, script]);
  expect(Number(stdout.toString())).toBe(5000);
});

test('the last line of a program is written before it ends, also to a socket, as systemd has it', async () => {
  const log = JSON.stringify(import.meta.resolve('../../src/observe/log.ts'));
  const script = `const { openLog } = await import(${log}); const log = openLog('info');
    log.lifecycle('last');
    await log.flush();
    process.exit(0);`;
  const programs = Array.from({ length: 8 }, () => spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'ignore', 'pipe'] }));
  for (const { pid } of programs) expect(readlinkSync(`/proc/${pid}/fd/2`)).toStartWith('socket:');
  const printed = await Promise.all(programs.map(({ stderr }) => text(stderr)));
  for (const line of printed) expect(line).toContain('"msg":"last"');
});
