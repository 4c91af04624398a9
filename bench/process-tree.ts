import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const CPU_FIELDS_AFTER_NAME = [11, 12, 13, 14] as const; // utime, stime, cutime, cstime

/** Returns the ids of a process and all its descendants. Needs Linux: everything here is read from /proc. */
export function listProcessTree(pid: number): readonly number[] {
  const members = [pid];
  for (const member of members) {
    members.push(...listChildren(member));
  }
  return members;
}

/** Returns the CPU time, user and system, of a process, its threads and its descendants. */
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

/** Returns the CPU time of a process's threads of this name. */
export function readThreadMicros(pid: number, name: string): number {
  let nanos = 0;
  for (const thread of listThreads(pid)) {
    const folder = `/proc/${pid}/task/${thread}`;
    if (readOrEmpty(`${folder}/comm`).trim() === name) nanos += Number(readOrEmpty(`${folder}/schedstat`).split(' ')[0]);
  }
  return nanos / 1000;
}

let ticksPerSecond: number | undefined;

/** Converts the kernel's CPU ticks, usually of 10 ms. */
export function ticksToMicros(ticks: number): number {
  ticksPerSecond ??= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
  return (ticks * 1_000_000) / ticksPerSecond;
}

/** Returns the resident memory of a process and its descendants, current (`VmRSS`) or peak (`VmHWM`). */
export function readMemoryMb(pid: number, measure: 'VmRSS' | 'VmHWM'): number {
  let kilobytes = 0;
  for (const member of listProcessTree(pid)) {
    const status = readOrEmpty(`/proc/${member}/status`);
    kilobytes += Number(new RegExp(`^${measure}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0);
  }
  return (kilobytes * 1024) / 1_000_000;
}

function listChildren(pid: number): readonly number[] {
  // Children are listed under the thread that started them.
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
