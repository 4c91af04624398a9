import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { readCpuMicros, ticksToMicros } from './process-tree.ts';

/**
 * The fields in the first line of /proc/stat that count as work: user, nice, system, and steal, the time used by other guests of the host.
 */
const WORK_FIELDS = [1, 2, 3, 8] as const;

/** Describes the machine. Ratios can be compared between machines; absolute numbers cannot. */
export function describeMachine(): string {
  const processors = cpus();
  return `${processors[0]?.model ?? 'unknown processor'}, ${processors.length} cores, Bun ${Bun.version}`;
}

/**
 * Starts measuring the load of other programs. The returned function gives the number of cores they kept busy on average since then. On
 * a busy machine even CPU time per request grows, because programs share caches.
 */
export function watchOtherPrograms(): () => number {
  const startMs = performance.now();
  const startMicros = readOthersMicros();
  return () => (readOthersMicros() - startMicros) / 1000 / (performance.now() - startMs);
}

function readOthersMicros(): number {
  const fields = (readFileSync('/proc/stat', 'utf8').split('\n', 1)[0] ?? '').split(/ +/);
  const ticks = WORK_FIELDS.reduce((sum, field) => sum + Number(fields[field] ?? 0), 0);
  return ticksToMicros(ticks) - readCpuMicros(process.pid);
}
