import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { MAIN } from '../../services/built.ts';
import { findFreePort } from '../../services/free-port.ts';
import type { Reaper } from '../../services/reaper.ts';
import type { JsonObject } from '../../simulator/wire.ts';

/** A gateway process. */
export interface GatewayNode {
  readonly origin: string;
  readonly pid: number;
  /** Everything it has printed to stderr so far. */
  output(): string;
  /** Everything it has logged so far. */
  logLines(): readonly JsonObject[];
  /** Kills it (SIGKILL) and waits until it is gone. */
  kill(): Promise<void>;
  /** Asks it to exit (SIGTERM) and returns its exit code. */
  terminate(withinMs?: number): Promise<number | null>;
  /** Suspends it (SIGSTOP) and waits until it has stopped. */
  freeze(): Promise<void>;
  /** Resumes it (SIGCONT). */
  thaw(): void;
}

const PROJECT = join(import.meta.dirname, '..', '..', '..');
const READY_WITHIN_MS = 60_000;
const EXIT_WITHIN_MS = 20_000;
const RUN_WITHIN_MS = 60_000;
const POLL_MS = 15;

type Environment = Readonly<Record<string, string>>;

/** Starts `tollgate serve`; the reaper kills it if nothing else does. A wrapper is a command that starts it in turn. */
export async function startNode(
  environment: Environment,
  { reaper, wrapper }: { readonly reaper: Reaper; readonly wrapper: readonly string[] },
): Promise<GatewayNode> {
  const port = await findFreePort();
  const command: readonly string[] = [...wrapper, process.execPath, MAIN, 'serve'];
  const child = spawn(command[0] ?? '', command.slice(1), {
    cwd: PROJECT,
    env: { ...environment, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error('the gateway could not be started');
  reaper.watch(pid);
  const exited = once(child, 'exit').then(() => reaper.forget(pid));
  const printed: Buffer[] = [];
  child.stderr.on('data', (bytes: Buffer) => printed.push(bytes));
  const output = (): string => Buffer.concat(printed).toString('utf8');
  const origin = `http://127.0.0.1:${port}`;
  await waitUntilReady(origin, child, output);
  const end = async (signal: NodeJS.Signals, withinMs = EXIT_WITHIN_MS): Promise<void> => {
    child.kill(signal);
    const isLate = await Promise.race([exited.then(() => false), Bun.sleep(withinMs).then(() => true)]);
    if (isLate) throw new Error(`the gateway still runs ${withinMs} ms after ${signal}`);
  };
  return {
    origin,
    pid,
    output,
    logLines: () => output().split('\n').flatMap(readLogLine),
    kill: () => end('SIGKILL'),
    async terminate(withinMs) {
      await end('SIGTERM', withinMs);
      return child.exitCode;
    },
    async freeze() {
      child.kill('SIGSTOP');
      while (!(await Bun.file(`/proc/${pid}/stat`).text()).includes(') T ')) await Bun.sleep(1);
    },
    thaw: () => void child.kill('SIGCONT'),
  };
}

/** Runs a command to its end and returns its output. Throws with that output if the command fails. */
export async function runProgram(args: readonly string[], environment: Environment): Promise<string> {
  const child = Bun.spawn([process.execPath, MAIN, ...args], {
    cwd: PROJECT,
    env: environment,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: RUN_WITHIN_MS,
  });
  const [printed, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(`${args.join(' ')} ended with ${child.exitCode}: ${errors}${printed}`);
  return printed;
}

async function waitUntilReady(origin: string, child: ChildProcess, output: () => string): Promise<void> {
  const deadline = performance.now() + READY_WITHIN_MS;
  while (performance.now() < deadline && child.exitCode === null) {
    const response = await fetch(`${origin}/readyz`, { keepalive: false }).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.status === 200) return;
    await Bun.sleep(POLL_MS);
  }
  child.kill('SIGKILL');
  throw new Error(`the gateway did not become ready; it printed:\n${output()}`);
}

function readLogLine(line: string): JsonObject[] {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? [value as JsonObject] : [];
  } catch {
    // Lines that are not JSON are incomplete, or were printed by something else.
    return [];
  }
}
