import type { LoadResult } from './load.ts';

/** The loads. `single` and `steady` show latency, the others CPU. */
export type LoadName = 'json' | 'single' | 'steady' | 'long' | 'stream';

/** One turn of a few seconds, with the CPU time of the process per completed request. */
export interface Turn extends LoadResult {
  readonly cpuMicros: number;
}

/** All turns of a candidate at one load: the sum of their requests, their faults, and the medians of the rest. */
export interface Figures extends Turn {
  readonly turns: readonly Turn[];
}

/** How far the values of the rounds lie apart. */
export interface Spread {
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
}

/** Sums up the turns of one load. No fault is lost: a valid turn does not hide a failed one. */
export function sumUp(turns: readonly Turn[]): Figures {
  const medianOf = (pick: (turn: Turn) => number): number => spreadOf(turns.map(pick)).median;
  return {
    completed: turns.reduce((sum, { completed }) => sum + completed, 0),
    cpuMicros: medianOf(({ cpuMicros }) => cpuMicros),
    p50Ms: medianOf(({ p50Ms }) => p50Ms),
    p99Ms: medianOf(({ p99Ms }) => p99Ms),
    faults: turns.flatMap(({ faults }) => faults),
    turns,
  };
}

/**
 * Divides the CPU time of each turn by that of the other program's turn in the same round. The two were seconds apart, so a slow minute of
 * the machine made both dear.
 */
export function divideCpu(figures: Figures | undefined, by: Figures | undefined): Spread | undefined {
  return compare(figures, by, (turn, other) => turn.cpuMicros / other.cpuMicros);
}

/** Subtracts from the median latency of each turn that of the other program's turn in the same round. */
export function subtractLatency(figures: Figures | undefined, subtrahend: Figures): Spread | undefined {
  return compare(figures, subtrahend, (turn, other) => turn.p50Ms - other.p50Ms);
}

function compare(left: Figures | undefined, right: Figures | undefined, pair: (left: Turn, right: Turn) => number): Spread | undefined {
  if (left === undefined || right === undefined) return undefined;
  const rounds = left.turns.flatMap((turn, round) => {
    const other = right.turns[round];
    return other === undefined ? [] : [pair(turn, other)];
  });
  return spreadOf(rounds);
}

function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((left, right) => left - right);
  const at = (index: number): number => sorted[index] ?? Number.NaN;
  const middle = (sorted.length - 1) / 2;
  return { median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2, lowest: at(0), highest: at(sorted.length - 1) };
}
