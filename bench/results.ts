import type { CandidateName } from './candidates/candidate.ts';
import type { Figures, LoadName } from './figures.ts';
import type { LedgerFigures } from './ledger.ts';
import type { MemoryFigures } from './memory.ts';

/** The figures of one candidate at all loads. */
export type LoadFigures = Readonly<Record<LoadName, Figures>>;

/** The outcome of one candidate. */
export type Outcome = { readonly name: CandidateName; readonly title: string } & (
  | { readonly type: 'measured'; readonly loads: LoadFigures; readonly peakMb: number }
  | { readonly type: 'absent'; readonly reason: string }
  | { readonly type: 'failed'; readonly reason: string }
);

/** The results of a benchmark run. */
export interface Results {
  readonly machine: string;
  readonly driver: string;
  readonly paceMs: number;
  /** How many turns each candidate took at each load. */
  readonly rounds: number;
  readonly outcomes: readonly Outcome[];
  /** The simulator called directly, on one connection and at 200 requests a second. */
  readonly direct: Pick<LoadFigures, 'single' | 'steady'>;
  /** The embedded ledger at growing sizes; empty if Tollgate was not selected. */
  readonly ledger: readonly LedgerFigures[];
  /** Average number of cores that other programs kept busy meanwhile. */
  readonly otherProgramsCores: number;
  readonly memory: Readonly<Partial<Record<CandidateName, MemoryFigures>>>;
}

/** Returns the faults of all turns at all loads. */
export function listFaults(loads: Partial<LoadFigures>): readonly string[] {
  return Object.values(loads).flatMap(({ faults }) => faults);
}

/** Returns a candidate's figures; undefined if it was not measured or had faults. */
export function findValid(results: Results, name: CandidateName): LoadFigures | undefined {
  const outcome = results.outcomes.find((each) => each.name === name);
  if (outcome?.type !== 'measured' || listFaults(outcome.loads).length > 0) return undefined;
  return outcome.loads;
}

/** Returns true if something failed or had faults. A missing candidate is not a failure. */
export function hasFailure({ outcomes, direct, memory }: Results): boolean {
  const faults = [...listFaults(direct), ...Object.values(memory).flatMap((figures) => figures.faults)];
  return faults.length > 0 || outcomes.some(isBroken);
}

function isBroken(outcome: Outcome): boolean {
  return outcome.type === 'failed' || (outcome.type === 'measured' && listFaults(outcome.loads).length > 0);
}

/** Says in words why something failed. */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
