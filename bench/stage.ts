import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { listProcessTree } from './process-tree.ts';

const STOP_TIMEOUT_MS = 5_000;
const LOG_TAIL_CHARACTERS = 1_500;

/** A program started by a `Stage` and ended by it. */
export interface StagedProcess {
  readonly name: string;
  readonly pid: number;
  readonly readOutput: () => string;
  /** Returns its last output, to explain why it did not start or respond. */
  readonly readLogTail: () => string;
  readonly hasExited: () => boolean;
  /** Resolves with the exit code, or -1 if a signal ended it. */
  readonly exitCode: Promise<number>;
  /** Resolves when the process and all its children are gone. */
  readonly stop: () => Promise<void>;
}

/** A program to start, with additions to the minimal environment. */
export interface StartOptions {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
}

interface Started {
  readonly name: string;
  readonly child: ChildProcess;
  readonly pid: number;
  readonly paths: { readonly output: string; readonly errors: string };
}

/** Owns the temporary folder and all processes of the benchmark. */
export class Stage {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
  readonly #running = new Set<StagedProcess>();
  #isCleared = false;

  /** Creates an empty folder that is removed with the stage. */
  makeFolder(prefix: string): string {
    return mkdtempSync(join(this.folder, `${prefix}-`));
  }

  /** Starts a program. Its output goes to files, so that writing a log has its real cost. */
  start(options: StartOptions): StagedProcess {
    // After Ctrl-C the interrupted steps are still unwinding and must not start anything new.
    if (this.#isCleared) throw new Error(`${options.name} not started: the benchmark is ending`);
    const folder = this.makeFolder(options.name);
    const paths = { output: join(folder, 'output.log'), errors: join(folder, 'errors.log') };
    const files = [openSync(paths.output, 'w'), openSync(paths.errors, 'w')] as const;
    const [program, ...parameters] = options.command;
    const child = spawn(program, parameters, {
      cwd: options.cwd ?? folder,
      env: { ...minimalEnvironment(), ...options.environment },
      stdio: ['ignore', ...files],
    });
    for (const file of files) closeSync(file);
    // A failed start is reported as an event; without a process id there is nothing to watch or stop.
    child.once('error', () => {});
    if (child.pid === undefined) throw new Error(`${program} could not be started`);
    return this.#track({ name: options.name, child, pid: child.pid, paths });
  }

  /** Runs a program to its end and returns its output. Throws unless the exit code is 0. */
  async run(options: StartOptions, timeoutMs: number): Promise<string> {
    const staged = this.start(options);
    const code = await Promise.race([staged.exitCode, sleep(timeoutMs, 'late', { ref: false })]);
    await staged.stop();
    if (code === 0) return staged.readOutput();
    const outcome = code === 'late' ? `took over ${timeoutMs} ms` : `ended with code ${code}`;
    throw new Error(`${options.command.join(' ')} ${outcome}: ${staged.readLogTail()}`);
  }

  /** Returns the processes that are running now. */
  listRunning(): readonly StagedProcess[] {
    return [...this.#running];
  }

  /** Stops all running processes. */
  async stopAll(): Promise<void> {
    await Promise.all([...this.#running].map((staged) => staged.stop()));
  }

  /** Stops all running processes and removes the folder. Nothing can be started afterwards. */
  async clear(): Promise<void> {
    this.#isCleared = true;
    await this.stopAll();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #track({ name, child, pid, paths }: Started): StagedProcess {
    let hasExited = false;
    const exitCode = new Promise<number>((resolve) => {
      child.once('exit', (code) => resolve(code ?? -1));
    }).finally(() => {
      hasExited = true;
      this.#running.delete(staged);
    });
    const readOutput = (): string => readFileSync(paths.output, 'utf8');
    const staged: StagedProcess = {
      name,
      pid,
      readOutput,
      readLogTail: () => (readOutput() + readFileSync(paths.errors, 'utf8')).slice(-LOG_TAIL_CHARACTERS).trim(),
      hasExited: () => hasExited,
      exitCode,
      stop: async () => {
        if (!hasExited) await endProcess(staged);
      },
    };
    this.#running.add(staged);
    return staged;
  }
}

/**
 * Returns only the variables that a program needs to run. Otherwise a proxy setting, a database
 * address or a provider's key in the user's shell would change the measurement.
 */
function minimalEnvironment(): Record<string, string | undefined> {
  const { PATH, HOME, USER, LANG, TMPDIR } = process.env;
  return { PATH, HOME, USER, LANG, TMPDIR };
}

async function endProcess(staged: StagedProcess): Promise<void> {
  const tree = listProcessTree(staged.pid);
  sendSignal(staged.pid, 'SIGTERM');
  const outcome = await Promise.race([staged.exitCode, sleep(STOP_TIMEOUT_MS, 'late' as const, { ref: false })]);
  // A killed server leaves its workers behind, so each is killed by its own id.
  if (outcome === 'late') for (const member of tree) sendSignal(member, 'SIGKILL');
  await staged.exitCode;
}

function sendSignal(pid: number, name: 'SIGTERM' | 'SIGKILL'): void {
  // Zero and negative numbers mean process groups, -1 even all processes.
  if (pid <= 1) throw new Error(`${pid} is not the id of a process that was started here`);
  try {
    process.kill(pid, name);
  } catch {
    // It has already ended.
  }
}
