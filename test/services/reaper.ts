import { rm } from 'node:fs/promises';
import { areGone, isRunning, killTree, signalProcess } from './processes.ts';

/** Tidies up after this process, also when it had no time to do so itself. */
export interface Reaper {
  /** Remembers a process that is to be ended. */
  watch(pid: number): void;
  /** Forgets a process that has ended: its number may soon be another's. */
  forget(pid: number): void;
  /** Ends what is watched, removes the path, and waits until both are done. */
  finish(): Promise<void>;
}

const STOP_WITHIN_MS = 2000;
const RETRIES_MAX = 5;

/**
 * Starts a process that does the work as soon as the pipe from us to it closes: because `finish` was called, or because we have ended,
 * be it by Ctrl-C or by SIGKILL. Both ways are one, so the one that is rarely taken is tested with every run.
 */
export async function startReaper({ path, stopSignal = 'SIGTERM' }: { path: string; stopSignal?: NodeJS.Signals }): Promise<Reaper> {
  const child = Bun.spawn([process.execPath, import.meta.path, path, stopSignal], {
    // In a session of its own, it does not hear the Ctrl-C that ends us.
    detached: true,
    stdin: 'pipe',
    stdout: 'pipe',
    // Whoever reads our errors to their end, as `npm test` does, thereby waits until everything is tidied up.
    stderr: 'inherit',
  });
  child.unref();
  // Its first words say that it listens to nothing but the pipe from now on.
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
      if (exitCode !== 0) throw new Error(`Tidying up ${path} failed with code ${exitCode}.`);
    },
  };
}

async function reap(path: string, stopSignal: NodeJS.Signals): Promise<void> {
  // When a test takes too long, the test runner ends all that it has started: the service too, but then the folder would stay.
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
    // A process that a test has frozen hears nothing before it goes on.
    signalProcess(pid, 'SIGCONT');
  }
  if (!(await areGone([...pids], STOP_WITHIN_MS))) await Promise.all([...pids].filter(isRunning).map(killTree));
  // What the ended programs had started may write a last file while we remove.
  await rm(path, { recursive: true, force: true, maxRetries: RETRIES_MAX });
}

if (import.meta.main) {
  const [path, stopSignal] = process.argv.slice(2) as [string, NodeJS.Signals];
  await reap(path, stopSignal);
}
