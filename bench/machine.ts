import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { readCpuMicros, ticksToMicros } from './process-tree.ts';

/** The fields of the first line of /proc/stat that are work: user, nice, system, and time taken by other guests of the host. */
const WORK_FIELDS = [1, 2, 3, 8] as const;

/** The machine in a few words. Ratios travel from one machine to another, absolute numbers do not. */
export function describeMachine(): string {
  const processors = cpus();
  return `${processors[0]?.model ?? 'unknown processor'}, ${processors.length} cores, Bun ${Bun.version}`;
}

/**
 * Starts watching what other programs do meanwhile. The result tells how many cores they kept busy on average since then:
 * on a machine that is not quiet, even CPU time per request grows, for they take turns in the same caches.
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
