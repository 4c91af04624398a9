import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const CPU_FIELDS_AFTER_NAME = [11, 12, 13, 14] as const; // utime, stime, cutime, cstime

/** A process and all its descendants, by id. Needs Linux: everything here is read from /proc. */
export function listProcessTree(pid: number): readonly number[] {
  const members = [pid];
  for (const member of members) {
    members.push(...listChildren(member));
  }
  return members;
}

/** CPU time used so far by a process, its threads and its descendants, user and system. */
export function readCpuMicros(pid: number): number {
  let ticks = 0;
  for (const member of listProcessTree(pid)) {
    const stat = readOrEmpty(`/proc/${member}/stat`);
    // The second field is the program's name in brackets and may itself contain spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    for (const field of CPU_FIELDS_AFTER_NAME) ticks += Number(fields[field] ?? 0);
  }
  return ticksToMicros(ticks);
}

let ticksPerSecond: number | undefined;

/** The kernel counts CPU time in ticks, mostly of 10 ms. */
export function ticksToMicros(ticks: number): number {
  ticksPerSecond ??= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
  return (ticks * 1_000_000) / ticksPerSecond;
}

/** Resident memory now (`VmRSS`) or at its highest so far (`VmHWM`), with all descendants. */
export function readMemoryMb(pid: number, measure: 'VmRSS' | 'VmHWM'): number {
  let kilobytes = 0;
  for (const member of listProcessTree(pid)) {
    const status = readOrEmpty(`/proc/${member}/status`);
    kilobytes += Number(new RegExp(`^${measure}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0);
  }
  return (kilobytes * 1024) / 1_000_000;
}

function listChildren(pid: number): readonly number[] {
  // Children hang on the thread that made them, so every thread is asked.
  return listThreads(pid).flatMap((thread) => readOrEmpty(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number));
}

function listThreads(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return []; // the process has just ended
  }
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // the process has just ended
  }
}
