import { rm } from 'node:fs/promises';
import { areGone, isRunning, killTree, signalProcess } from './processes.ts';

/** Cleans up after this process, even if it was killed. */
export interface Reaper {
  /** Registers a process to be stopped. */
  watch(pid: number): void;
  /** Unregisters an ended process: its id may soon be reused. */
  forget(pid: number): void;
  /** Stops the registered processes, removes the path, and waits until both are done. */
  finish(): Promise<void>;
}

const STOP_WITHIN_MS = 2000;
const RETRIES_MAX = 5;

/**
 * Starts a process that cleans up as soon as the pipe from us closes: because `finish` was called, or because we ended, even by Ctrl-C
 * or SIGKILL. Both cases take the same path, so the rare one is tested with every run.
 */
export async function startReaper({ path, stopSignal = 'SIGTERM' }: { path: string; stopSignal?: NodeJS.Signals }): Promise<Reaper> {
  const child = Bun.spawn([process.execPath, import.meta.path, path, stopSignal], {
    // In its own session it does not receive our Ctrl-C.
    detached: true,
    stdin: 'pipe',
    stdout: 'pipe',
    // A reader of our standard error, such as `npm test`, waits until the clean-up is done.
    stderr: 'inherit',
  });
  child.unref();
  // Its first output means that it now reacts only to the pipe.
  await child.stdout.getReader().read();
  const tell = (line: string): void => {
    void child.stdin.write(`${line}\n`);
    void child.stdin.flush();
  };
  return {
    watch: (pid) => tell(`+${pid}`),
    forget: (pid) => tell(`-${pid}`),
    async finish() {
      await child.stdin.end();
      const exitCode = await child.exited;
      if (exitCode !== 0) throw new Error(`Cleaning up ${path} failed with code ${exitCode}.`);
    },
  };
}

async function reap(path: string, stopSignal: NodeJS.Signals): Promise<void> {
  // After a test's timeout the test runner kills all its children: the service too, but the folder would remain.
  process.on('SIGTERM', () => {});
  console.log('ready');
  const pids = new Set<number>();
  for await (const line of console) {
    const pid = Number(line.slice(1));
    if (line.startsWith('+')) pids.add(pid);
    else pids.delete(pid);
  }
  for (const pid of pids) {
    signalProcess(pid, stopSignal);
    // A process that a test has frozen receives signals only after it is resumed.
    signalProcess(pid, 'SIGCONT');
  }
  if (!(await areGone([...pids], STOP_WITHIN_MS))) await Promise.all([...pids].filter(isRunning).map(killTree));
  // Children of the stopped programs may still write a file during the removal.
  await rm(path, { recursive: true, force: true, maxRetries: RETRIES_MAX });
}

if (import.meta.main) {
  const [path, stopSignal] = process.argv.slice(2) as [string, NodeJS.Signals];
  await reap(path, stopSignal);
}
