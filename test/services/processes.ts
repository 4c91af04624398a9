import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** Processes by their ids, also those whose parent we are not. */

const POLL_MS = 10;
const FROZEN_WITHIN_MS = 1000;
const GONE_WITHIN_MS = 10_000;

/** Ends a process and its children at once (SIGKILL) and waits until all of them are gone. */
export async function killTree(pid: number): Promise<void> {
  // A frozen parent starts no further child while we look at those that it has; it freezes a moment after the signal.
  signalProcess(pid, 'SIGSTOP');
  await waitUntil(() => !isRunning(pid) || stateOf(pid) === 'T', FROZEN_WITHIN_MS);
  const pids = [pid, ...childrenOf(pid)];
  for (const each of pids) signalProcess(each, 'SIGKILL');
  if (!(await areGone(pids, GONE_WITHIN_MS))) throw new Error(`Of the processes ${pids.join(', ')}, some outlived SIGKILL.`);
}

/** Whether all of these processes end within the time. */
export function areGone(pids: readonly number[], withinMs: number): Promise<boolean> {
  return waitUntil(() => !pids.some(isRunning), withinMs);
}

/** Sends a signal; a process that has ended already is fine. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** The processes that a process has started itself. */
export function childrenOf(pid: number): number[] {
  return listProcesses().flatMap((each) => (each.parentPid === pid ? [each.pid] : []));
}

/** Whether a process still runs. One that has ended but was not waited for (a zombie) holds nothing any more: it is gone. */
export function isRunning(pid: number): boolean {
  const state = stateOf(pid);
  return state !== undefined && state !== 'Z' && state !== 'X';
}

interface ListedProcess {
  readonly pid: number;
  readonly parentPid: number;
  /** One letter, such as `T` for frozen and `Z` for ended but not waited for. */
  readonly state: string;
}

function stateOf(pid: number): string | undefined {
  const found = process.platform === 'linux' ? readProcess(pid) : listProcesses().find((each) => each.pid === pid);
  return found?.state;
}

/** From the kernel on Linux, whose smallest images have no `ps`; from `ps` elsewhere. */
function listProcesses(): ListedProcess[] {
  if (process.platform === 'linux') {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/u.test(name));
    return pids.flatMap((pid) => readProcess(Number(pid)) ?? []);
  }
  const lines = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,stat='], { encoding: 'utf8' }).stdout.trim().split('\n');
  return lines.map((line) => {
    const [pid, parentPid, states = ''] = line.trim().split(/\s+/u);
    return { pid: Number(pid), parentPid: Number(parentPid), state: states.charAt(0) };
  });
}

function readProcess(pid: number): ListedProcess | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name stands in brackets and may hold anything, brackets too: what is wanted follows the last one.
    const [state = '', parentPid] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { pid, parentPid: Number(parentPid), state };
  } catch {
    // It ended between two looks.
    return undefined;
  }
}

async function waitUntil(isSo: () => boolean, withinMs: number): Promise<boolean> {
  const deadlineMs = performance.now() + withinMs;
  while (!isSo()) {
    if (performance.now() > deadlineMs) return false;
    await Bun.sleep(POLL_MS);
  }
  return true;
}
