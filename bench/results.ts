import type { CandidateName } from './candidates/candidate.ts';
import type { Figures, Round } from './measure.ts';
import type { LedgerFigures } from './ledger.ts';
import type { MemoryFigures } from './memory.ts';

/** The outcome of one candidate over all rounds. */
export type Outcome = { readonly name: CandidateName; readonly title: string } & (
  | { readonly type: 'measured'; readonly best: Round }
  | { readonly type: 'absent'; readonly reason: string }
  | { readonly type: 'failed'; readonly reason: string }
);

/** The results of a benchmark run. */
export interface Results {
  readonly machine: string;
  readonly driver: string;
  readonly paceMs: number;
  readonly outcomes: readonly Outcome[];
  /** The simulator called directly, on one connection. */
  readonly directP50Ms: number;
  /** The same at 200 requests a second. */
  readonly directSteadyP50Ms: number;
  /** The embedded ledger at growing sizes; empty if Tollgate was not selected. */
  readonly ledger: readonly LedgerFigures[];
  /** Average number of cores that other programs kept busy meanwhile. */
  readonly otherProgramsCores: number;
  readonly memory: Readonly<Partial<Record<CandidateName, MemoryFigures>>>;
}

/**
 * Returns the best round of each load, since noise of the machine only ever adds time. Faults of all
 * rounds are kept, so that a valid round does not hide a failed one.
 */
export function pickBest(rounds: readonly [Round, ...Round[]]): Round {
  const [first, ...others] = rounds;
  return others.reduce<Round>(
    (best, round) => ({
      json: pickCheaper(best.json, round.json),
      long: pickCheaper(best.long, round.long),
      single: {
        ...(round.single.p50Ms < best.single.p50Ms ? round.single : best.single),
        faults: [...best.single.faults, ...round.single.faults],
      },
      steady: {
        ...(round.steady.p50Ms < best.steady.p50Ms ? round.steady : best.steady),
        faults: [...best.steady.faults, ...round.steady.faults],
      },
      stream: pickCheaper(best.stream, round.stream),
      peakMb: Math.max(best.peakMb, round.peakMb),
    }),
    first,
  );
}

/** Returns the faults of all loads of a candidate. */
export function listFaults(round: Round): readonly string[] {
  return [...round.json.faults, ...round.long.faults, ...round.single.faults, ...round.steady.faults, ...round.stream.faults];
}

/** Returns a candidate's figures; undefined if it was not measured or had faults. */
export function findValid(results: Results, name: CandidateName): Round | undefined {
  const outcome = results.outcomes.find((each) => each.name === name);
  if (outcome?.type !== 'measured' || listFaults(outcome.best).length > 0) return undefined;
  return outcome.best;
}

/** Returns true if something failed or had faults. A missing candidate is not a failure. */
export function hasFailure(results: Results): boolean {
  const memory = Object.values(results.memory);
  return results.outcomes.some(isBroken) || memory.some((figures) => figures.faults.length > 0);
}

function isBroken(outcome: Outcome): boolean {
  return outcome.type === 'failed' || (outcome.type === 'measured' && listFaults(outcome.best).length > 0);
}

function pickCheaper(left: Figures, right: Figures): Figures {
  const cheaper = right.cpuMicros < left.cpuMicros ? right : left;
  return { ...cheaper, faults: [...left.faults, ...right.faults] };
}
