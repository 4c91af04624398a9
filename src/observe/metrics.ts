import type { Settlement } from '../ledger/ledger.ts';
import type { CheckResult } from '../ledger/verify.ts';
import type { Counts, Readings } from './metrics-text.ts';

/** The metrics of the service, for Prometheus. */
export interface Metrics {
  settled(settlement: Settlement, facts: { readonly isOverrun: boolean; readonly isResolvedBefore: boolean }): void;
  recovered(holds: number): void;
  verified(checks: readonly CheckResult[], nowMs: number): void;
  /** Returns the state of this process's ledger: the operations waiting to be written, and the result of the last verification. */
  ledgerState(): LedgerState;
  /** Notes whether this process counts limits alone although it should share them with other nodes. */
  countsAlone(isAlone: boolean): void;
  /** Returns the text for `/metrics`. */
  render(): Promise<string>;
  readonly contentType: string;
}

/** The state of the ledger, for the operator. */
export interface LedgerState {
  readonly waiting: number;
  /** Undefined before the first verification. */
  readonly verified: { readonly atMs: number; readonly checks: readonly CheckResult[] } | undefined;
}

/** Reported as 0 from the start: Prometheus sees no increase in a series that begins with 1. */
const OUTCOMES = ['completed', 'client_gone', 'failed'] satisfies Settlement['outcome'][];

/** Starts counting. */
export function openMetrics(read: () => Readings): Metrics {
  const counts: Counts = {
    outcomes: new Map(OUTCOMES.map((outcome) => [outcome, 0])),
    chargedNanos: 0,
    estimated: 0,
    overruns: 0,
    resolvedBefore: 0,
    recoveredHolds: 0,
    differences: new Map(),
    verifiedAtMs: 0,
    isAlone: false,
  };
  let verified: LedgerState['verified'];
  return {
    settled: ({ outcome, cost, isEstimated }, { isOverrun, isResolvedBefore }) => {
      counts.outcomes.set(outcome, (counts.outcomes.get(outcome) ?? 0) + 1);
      counts.chargedNanos += Number(cost);
      if (isEstimated) counts.estimated += 1;
      if (isOverrun) counts.overruns += 1;
      if (isResolvedBefore) counts.resolvedBefore += 1;
    },
    recovered: (holds) => {
      counts.recoveredHolds += holds;
    },
    verified: (checks, nowMs) => {
      counts.differences.clear();
      for (const { name, places } of checks) {
        const rule = name.slice(0, name.indexOf(' '));
        counts.differences.set(rule, (counts.differences.get(rule) ?? 0) + places.length);
      }
      counts.verifiedAtMs = nowMs;
      verified = { atMs: nowMs, checks };
    },
    ledgerState: () => ({ waiting: read().ledger.waitingCount, verified }),
    countsAlone: (isAlone) => {
      counts.isAlone = isAlone;
    },
    // The library that writes the text takes four megabytes. It is loaded on first use, and does no counting itself.
    render: async () => (await import('./metrics-text.ts')).writeMetrics(counts, read()),
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
  };
}
