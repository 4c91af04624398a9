import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** Functions for processes by their ids, including those that are not our children. */

const POLL_MS = 10;
const FROZEN_WITHIN_MS = 1000;
const GONE_WITHIN_MS = 10_000;

/** Kills a process and its children (SIGKILL) and waits until all of them are gone. */
export async function killTree(pid: number): Promise<void> {
  // A frozen parent cannot start another child while its children are listed. It freezes a moment after the signal.
  signalProcess(pid, 'SIGSTOP');
  await waitUntil(() => !isRunning(pid) || stateOf(pid) === 'T', FROZEN_WITHIN_MS);
  const pids = [pid, ...childrenOf(pid)];
  for (const each of pids) signalProcess(each, 'SIGKILL');
  if (!(await areGone(pids, GONE_WITHIN_MS))) throw new Error(`Some of the processes ${pids.join(', ')} survived SIGKILL.`);
}

/** Returns true if all of these processes end within the time. */
export function areGone(pids: readonly number[], withinMs: number): Promise<boolean> {
  return waitUntil(() => !pids.some(isRunning), withinMs);
}

/** Sends a signal. Does nothing if the process has ended. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Returns the direct children of a process. */
export function childrenOf(pid: number): number[] {
  return listProcesses().flatMap((each) => (each.parentPid === pid ? [each.pid] : []));
}

/** Returns true if a process still runs. A zombie, which has ended but was not waited for, holds no resources and counts as gone. */
export function isRunning(pid: number): boolean {
  const state = stateOf(pid);
  return state !== undefined && state !== 'Z' && state !== 'X';
}

interface ListedProcess {
  readonly pid: number;
  readonly parentPid: number;
  /** One letter, such as `T` for stopped and `Z` for a zombie. */
  readonly state: string;
}

function stateOf(pid: number): string | undefined {
  const found = process.platform === 'linux' ? readProcess(pid) : listProcesses().find((each) => each.pid === pid);
  return found?.state;
}

/** Lists processes: from /proc on Linux, whose smallest images have no `ps`, and from `ps` elsewhere. */
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
    // The name is in brackets and may itself contain brackets: the other fields follow the last one.
    const [state = '', parentPid] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { pid, parentPid: Number(parentPid), state };
  } catch {
    // It has ended meanwhile.
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
