import type { Settlement } from '../ledger/ledger.ts';
import type { CheckResult } from '../ledger/verify.ts';

/** What the service counts, for Prometheus. */
export interface Metrics {
  settled(settlement: Settlement, facts: { readonly isOverrun: boolean; readonly isResolvedBefore: boolean }): void;
  recovered(holds: number): void;
  verified(checks: readonly CheckResult[], nowMs: number): void;
  /** How the ledger of this process does: what waits to be written, and what the last verification found. */
  ledgerState(): LedgerState;
  /** Whether this process counts limits by itself although it should do so with others. */
  countsAlone(isAlone: boolean): void;
  /** The text that `/metrics` gives. */
  render(): Promise<string>;
  readonly contentType: string;
}

/** What an operator wants to know of the ledger. */
export interface LedgerState {
  readonly waiting: number;
  /** Undefined before the first verification. */
  readonly verified: { readonly atMs: number; readonly checks: readonly CheckResult[] } | undefined;
}

/** The numbers of this process since its start. */
export interface Counts {
  readonly outcomes: Map<string, number>;
  chargedNanos: number;
  estimated: number;
  overruns: number;
  resolvedBefore: number;
  recoveredHolds: number;
  /** How many places each rule of the ledger found in the last verification. */
  readonly differences: Map<string, number>;
  verifiedAtMs: number;
  isAlone: boolean;
}

/** What others know at the moment at which somebody looks. */
export interface Readings {
  /** How many ledger operations wait to be written. */
  readonly waiting: number;
  /** The ways to providers that are not tried now. */
  readonly routesOut: readonly { readonly provider: string; readonly model: string }[];
}

/** Each is reported from the start on, as 0: Prometheus sees no increase in a series that begins with 1. */
const OUTCOMES = ['completed', 'client_gone', 'failed'] satisfies Settlement['outcome'][];

/** Begins to count. */
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
    ledgerState: () => ({ waiting: read().waiting, verified }),
    countsAlone: (isAlone) => {
      counts.isAlone = isAlone;
    },
    // Written by a library that takes four megabytes: it is loaded by the first who looks, and counts nothing itself.
    render: async () => (await import('./metrics-text.ts')).writeMetrics(counts, read()),
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
  };
}
