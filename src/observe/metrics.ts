import { Counter, Gauge, Registry } from '@prometheus-io/client';
import type { Settlement } from '../ledger/ledger.ts';
import type { CheckResult } from '../ledger/reconcile.ts';

/** What the service counts, for Prometheus. */
export interface Metrics {
  settled(settlement: Settlement, facts: { readonly isOverrun: boolean; readonly isResolvedBefore: boolean }): void;
  recovered(holds: number): void;
  verified(checks: readonly CheckResult[], nowMs: number): void;
  /** The text that `/metrics` gives. */
  render(): Promise<string>;
  readonly contentType: string;
}

/** Opens the counters. `readWaiting` tells how many ledger operations wait at the moment. */
export function openMetrics(readWaiting: () => number): Metrics {
  const registers = [new Registry()];
  const counter = (name: string, help: string, ...labelNames: string[]) => new Counter({ name, help, labelNames, registers });
  const gauge = (name: string, help: string, ...labelNames: string[]) => new Gauge({ name, help, labelNames, registers });
  const requests = counter('tollgate_requests_total', 'Requests that reached a provider or tried to, by how they ended.', 'outcome');
  const charged = counter('tollgate_charged_nanodollars_total', 'What accounts were charged, in nano-dollars.');
  const estimated = counter('tollgate_estimated_total', 'Requests charged by our own count, because the provider gave no credible one.');
  const overruns = counter('tollgate_hold_overruns_total', 'Requests that cost more than was held for them.');
  const resolvedBefore = counter('tollgate_resolved_before_total', 'Requests whose hold was already resolved when they ended.');
  const holdsRecovered = counter('tollgate_recovered_holds_total', 'Holds of dead processes that were settled.');
  const differences = gauge('tollgate_ledger_differences', 'Places where the last verification found a difference, by rule.', 'rule');
  const verifiedAt = gauge('tollgate_ledger_verified_timestamp_seconds', 'When the ledger was last verified.');
  const waiting = gauge('tollgate_ledger_waiting_operations', 'Ledger operations that wait to be written.');
  // Counted by hand until somebody looks: the library takes a microsecond for each, and every request has two.
  const outcomes = new Map<string, number>();
  let chargedNanos = 0;
  return {
    settled: (settlement, { isOverrun, isResolvedBefore }) => {
      outcomes.set(settlement.outcome, (outcomes.get(settlement.outcome) ?? 0) + 1);
      chargedNanos += Number(settlement.cost);
      if (settlement.isEstimated) estimated.inc();
      if (isOverrun) overruns.inc();
      if (isResolvedBefore) resolvedBefore.inc();
    },
    recovered: (holds) => holdsRecovered.inc(holds),
    verified: (checks, nowMs) => {
      for (const { name, ok, places } of checks) differences.set({ rule: name.slice(0, 2) }, ok ? 0 : places.length);
      verifiedAt.set(nowMs / 1000);
    },
    render: () => {
      for (const [outcome, count] of outcomes) requests.inc({ outcome }, count);
      outcomes.clear();
      charged.inc(chargedNanos);
      chargedNanos = 0;
      waiting.set(readWaiting());
      return registers[0]?.metrics() ?? Promise.resolve('');
    },
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
  };
}
