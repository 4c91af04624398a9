/** `npm test [-- file…]`: runs the tests and ends with one summary line. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { buildServer } from './build-server.ts';
import { buildWeb } from './build-web.ts';

/** A test may start the real server on a busy machine, so the default of five seconds is too short; bunfig.toml has no setting for it. */
const TIMEOUT_MS = 120_000;
/**
 * Lists that run in processes of their own, in parallel to all other tests: many tests wait for a clock while two cores could work. A file that
 * one list names is left out of a folder that another list names. A new file needs no entry. The lists change when one process ends minutes
 * before another.
 */
const BESIDE: readonly (readonly string[])[] = [
  ['test/browser/'],
  ['test/browser/pages.test.ts', 'test/browser/stored-scripts.test.ts', 'test/dashboard/', 'test/database/'],
  [
    'test/browser/usage.test.ts',
    'test/clients/',
    'test/commands/life.test.ts',
    'test/faults/drain.test.ts',
    'test/faults/ledger/frozen-node.test.ts',
    'test/faults/ledger/kill-cycles.test.ts',
    'test/faults/ledger/postgres-restarts.test.ts',
    'test/faults/ledger/races.test.ts',
    'test/faults/metering.test.ts',
    'test/faults/upstream.test.ts',
    'test/gateway/key-rules.test.ts',
    'test/scripts/',
  ],
  ['test/accounts/', 'test/ledger/', 'test/payments/', 'test/usage/'],
];

/** Tests that load the machine or measure time run alone, after all others. */
const ALONE: readonly string[] = [
  'test/clients/leaving.test.ts',
  'test/commands/effects.test.ts',
  'test/faults/fuzz.test.ts',
  'test/faults/slow-reader.test.ts',
];

/**
 * Settings of the runtime for the processes that run tests, which save a fifth of their work. Hardly any code of a test runs often enough to be
 * worth optimizing, and a pause for collecting garbage disturbs nobody. Programs under test get environments of their own, without these.
 */
const RUNTIME = {
  BUN_JSC_thresholdForOptimizeAfterWarmUp: '5000',
  BUN_JSC_thresholdForFTLOptimizeAfterWarmUp: '1000000',
  BUN_JSC_useConcurrentGC: '0',
};

/**
 * A few files that failed run once more, alone: a test that waits for a clock may fail beside the others on a busy machine. What fails again
 * is a failure. Money and random input have no second chance: there, one failure is a finding.
 */
const REPEATED_FILES_MAX = 6;
const NEVER_REPEATED = ['test/ledger/', 'test/faults/ledger/', 'test/payments/'];

/**
 * Where Linux keeps files in memory, and how much room it must have. Tests create hundreds of databases and flush every one of their
 * transactions, which takes several times as long on a disk. A whole run fills 0.6 GB at most.
 */
const MEMORY = '/dev/shm';
const MEMORY_BYTES_MIN = 4 * 2 ** 30;

/** How many lines before a failed test's name are repeated at the end. */
const FAILURE_LINES = 40;
const OUTSIDE_OF_TESTS = '# Unhandled error between tests';

/** One test run: its output, and how long it took. */
interface Run {
  readonly exitCode: number;
  readonly output: string;
  readonly seconds: number;
}

// Tests run the built server and pages, as users get them. test/services/built.ts checks the variable.
if (!(await Promise.all([buildServer(), buildWeb()])).every(Boolean)) process.exit(1);
const memoryFolder = process.env['TMPDIR'] === undefined ? makeMemoryFolder() : undefined;
const environment = { ...process.env, ...RUNTIME, TEST_BUILT: 'true', ...(memoryFolder === undefined ? {} : { TMPDIR: memoryFolder }) };

const named = process.argv.slice(2);
const isWhole = named.length === 0;
const print = (bytes: Uint8Array): void => void process.stderr.write(bytes);
const without = (paths: readonly string[]): string[] =>
  paths.map((path) => `--path-ignore-patterns=${path.endsWith('/') ? `${path}**` : path}`);
const filesOfOthers = (list: readonly string[]): string[] =>
  BESIDE.filter((other) => other !== list).flatMap((paths) => paths.filter((path) => path.endsWith('.ts')));
const besides = isWhole
  ? BESIDE.map((paths) => runTests([...without([...ALONE, ...filesOfOthers(paths)]), ...paths], () => undefined))
  : [];
const runs = [await runTests([...(isWhole ? without([...BESIDE.flat(), ...ALONE]) : []), ...named], print)];
for (const beside of besides) {
  const run = await beside;
  process.stderr.write(run.output);
  runs.push(run);
}
if (isWhole) runs.push(await runTests(ALONE, print));
if (isWhole) console.error(`\nSeconds of the main process, those beside it and the last: ${runs.map(({ seconds }) => seconds).join(', ')}`);

const sumOf = (count: (output: string) => number): number => runs.reduce((sum, { output }) => sum + count(output), 0);
const failures = runs.flatMap(({ output }) => failuresIn(output));
const again = isWhole ? await repeat([...new Set(failures.map(({ file }) => file))]) : undefined;
const [failedAtFirst, skipped] = [sumOf(failedIn), sumOf((output) => countIn(output, 'skip'))];
const failed = again === undefined ? failedAtFirst : failedIn(again.output);
const passed = sumOf((output) => countIn(output, 'pass')) + failedAtFirst - failed;
// In CI, a skipped test would be a test that never runs.
const isSkipFailure = skipped > 0 && process.env['CI'] === 'true';
if (isSkipFailure) console.error(`${skipped} tests were skipped, which is a failure with CI=true.`);
// Thousands of lines may follow a failure, so failures are repeated at the end.
for (const { file, report } of failures) console.error(`\n${file}:\n${report}`);
if (again?.exitCode === 0) console.error(`\nThe failures above did not happen when their files ran again, alone.`);
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
if (memoryFolder !== undefined) rmSync(memoryFolder, { recursive: true, force: true, maxRetries: 10 });
// A run that ended badly without a failed test has crashed.
const counted = again === undefined ? runs : [again, ...runs.filter(({ output }) => failedIn(output) === 0)];
const exitCode = Math.max(...counted.map((run) => run.exitCode));
process.exit(passed === 0 || isSkipFailure ? exitCode || 1 : exitCode);

function countIn(output: string, word: string): number {
  return Number(new RegExp(`^\\s*(\\d+) ${word}$`, 'm').exec(output)?.[1] ?? 0);
}

/** A file that cannot be loaded has no tests that could fail: its errors are failures too. */
function failedIn(output: string): number {
  return countIn(output, 'fail') + countIn(output, 'errors?');
}

function isRepeatable(file: string): boolean {
  return !NEVER_REPEATED.some((folder) => file.startsWith(folder)) && !readFileSync(file, 'utf8').includes("from 'fast-check'");
}

/** Runs files that failed once more, if they may have a second chance. */
async function repeat(files: readonly string[]): Promise<Run | undefined> {
  if (files.length === 0 || files.length > REPEATED_FILES_MAX) return undefined;
  if (!files.every(isRepeatable)) return undefined;
  console.error(`\nOnce more, alone: ${files.join(', ')}`);
  return runTests(files, print);
}

/** Creates a folder in memory if there is enough room. It is removed at the end, whatever tests leave in it. */
function makeMemoryFolder(): string | undefined {
  if (process.platform !== 'linux' || !existsSync(MEMORY)) return undefined;
  const { bavail, bsize } = statfsSync(MEMORY);
  if (bavail * bsize < MEMORY_BYTES_MIN) return undefined;
  const folder = mkdtempSync(join(MEMORY, 'tollgate-run-'));
  // Services do not run as root, and have folders of their own in it.
  chmodSync(folder, 0o711);
  return folder;
}

/** Returns the printed report of each failure, inside or outside a test, and its file. */
function failuresIn(output: string): { readonly file: string; readonly report: string }[] {
  const found: { file: string; report: string }[] = [];
  let file = '';
  let lines: string[] = [];
  const endPart = (isFailed: boolean): void => {
    if (isFailed || lines.includes(OUTSIDE_OF_TESTS)) found.push({ file, report: lines.slice(-FAILURE_LINES).join('\n') });
    lines = [];
  };
  for (const line of Bun.stripANSI(output).split('\n')) {
    // From here on the runner only repeats the names.
    if (/^\d+ tests failed:$/.test(line)) break;
    const isFile = /^test\/\S+:$/.test(line);
    if (isFile) endPart(false);
    if (isFile) file = line.slice(0, -1);
    else lines.push(line);
    if (/^\((?:pass|skip|todo|fail)\)/.test(line)) endPart(line.startsWith('(fail)'));
  }
  endPart(false);
  return found;
}

async function runTests(args: readonly string[], onOutput: (bytes: Uint8Array) => void): Promise<Run> {
  const child = Bun.spawn([process.execPath, 'test', `--timeout=${TIMEOUT_MS}`, ...args], {
    env: environment,
    stdin: 'ignore',
    stdout: 'inherit',
    stderr: 'pipe',
  });
  // Ctrl-C reaches the tests by itself, other signals do not. Either way, wait until they have ended and stopped their services.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  const beganAtMs = performance.now();
  let output = '';
  const decoder = new TextDecoder();
  for await (const bytes of child.stderr) {
    onOutput(bytes);
    output += decoder.decode(bytes, { stream: true });
  }
  return { exitCode: await child.exited, output, seconds: Math.round((performance.now() - beganAtMs) / 1000) };
}
