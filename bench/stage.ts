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
  /** What it printed last, to explain why it did not start or did not answer. */
  readonly readLogTail: () => string;
  readonly hasExited: () => boolean;
  /** Resolves with the exit code, or -1 when a signal ended it. */
  readonly exitCode: Promise<number>;
  /** Resolves when the process and all its children are gone. */
  readonly stop: () => Promise<void>;
}

/** What to start, and with which environment on top of the bare minimum. */
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

/** Owns everything the benchmark leaves on a machine: one temporary folder and every process. */
export class Stage {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
  readonly #running = new Set<StagedProcess>();
  #isCleared = false;

  /** Makes an empty folder that goes away with the stage. */
  makeFolder(prefix: string): string {
    return mkdtempSync(join(this.folder, `${prefix}-`));
  }

  /** Starts a program. What it prints goes to files: a log that nobody writes would cost nothing. */
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
    // The reason comes as an event; without an id there is nothing to watch or to end.
    child.once('error', () => {});
    if (child.pid === undefined) throw new Error(`${program} could not be started`);
    return this.#track({ name: options.name, child, pid: child.pid, paths });
  }

  /** Runs a program to its end and gives what it printed; any other exit code than 0 throws. */
  async run(options: StartOptions, timeoutMs: number): Promise<string> {
    const staged = this.start(options);
    const code = await Promise.race([staged.exitCode, sleep(timeoutMs, 'late', { ref: false })]);
    await staged.stop();
    if (code === 0) return staged.readOutput();
    const outcome = code === 'late' ? `took over ${timeoutMs} ms` : `ended with code ${code}`;
    throw new Error(`${options.command.join(' ')} ${outcome}: ${staged.readLogTail()}`);
  }

  /** Ends whatever still runs. */
  async stopAll(): Promise<void> {
    await Promise.all([...this.#running].map((staged) => staged.stop()));
  }

  /** Ends whatever still runs and removes the folder; nothing can be started afterwards. */
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
 * Only what a program needs to run. A proxy setting, a database address or a provider's key of the
 * operator's shell would otherwise change what is measured.
 */
function minimalEnvironment(): Record<string, string | undefined> {
  const { PATH, HOME, USER, LANG, TMPDIR } = process.env;
  return { PATH, HOME, USER, LANG, TMPDIR };
}

async function endProcess(staged: StagedProcess): Promise<void> {
  const tree = listProcessTree(staged.pid);
  sendSignal(staged.pid, 'SIGTERM');
  const outcome = await Promise.race([staged.exitCode, sleep(STOP_TIMEOUT_MS, 'late' as const, { ref: false })]);
  // A server ended by force leaves its workers behind, so each is ended by its own id.
  if (outcome === 'late') for (const member of tree) sendSignal(member, 'SIGKILL');
  await staged.exitCode;
}

function sendSignal(pid: number, name: 'SIGTERM' | 'SIGKILL'): void {
  // Zero and negative numbers mean groups of processes, -1 even all of them.
  if (pid <= 1) throw new Error(`${pid} is not the id of a process that was started here`);
  try {
    process.kill(pid, name);
  } catch {
    // It ended by itself between the look and the signal.
  }
}
