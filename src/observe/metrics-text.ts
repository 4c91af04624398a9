import { Counter, Gauge, Registry } from '@prometheus-io/client';

/** The counts of this process since its start. */
export interface Counts {
  readonly outcomes: Map<string, number>;
  chargedNanos: number;
  estimated: number;
  overruns: number;
  resolvedBefore: number;
  recoveredHolds: number;
  /** The number of places that each rule reported in the last verification. */
  readonly differences: Map<string, number>;
  verifiedAtMs: number;
  isAlone: boolean;
}

/** Values that are read from other parts of the service at the moment of the request. */
export interface Readings {
  /** The numbers of ledger operations that wait to be written, and that could not be since the start. */
  readonly ledger: { readonly waitingCount: number; readonly setAsideCount: number };
  /** The routes that are paused. */
  readonly pausedRoutes: readonly { readonly provider: string; readonly model: string }[];
}

/** Writes the counts in the format of Prometheus. */
export function writeMetrics(counts: Counts, { ledger, pausedRoutes }: Readings): Promise<string> {
  const registry = new Registry();
  const registers = [registry];
  const counter = (name: string, help: string, ...labelNames: string[]) => new Counter({ name, help, labelNames, registers });
  const gauge = (name: string, help: string, ...labelNames: string[]) => new Gauge({ name, help, labelNames, registers });

  const requests = counter('tollgate_requests_total', 'Requests that reached a provider or tried to, by outcome.', 'outcome');
  for (const [outcome, count] of counts.outcomes) requests.inc({ outcome }, count);
  counter('tollgate_charged_nanodollars_total', 'Amount charged to accounts, in nano-dollars.').inc(counts.chargedNanos);
  counter('tollgate_estimated_total', 'Requests charged by our own token count, for lack of a credible one.').inc(counts.estimated);
  counter('tollgate_hold_overruns_total', 'Requests that cost more than was held for them.').inc(counts.overruns);
  counter('tollgate_resolved_before_total', 'Requests whose hold was already resolved when they ended.').inc(counts.resolvedBefore);
  counter('tollgate_recovered_holds_total', 'Holds of dead processes that were settled.').inc(counts.recoveredHolds);

  const differences = gauge('tollgate_ledger_differences', 'Places where the last verification found a difference, by rule.', 'rule');
  for (const [rule, places] of counts.differences) differences.set({ rule }, places);
  gauge('tollgate_ledger_verified_timestamp_seconds', 'When the ledger was last verified.').set(counts.verifiedAtMs / 1000);
  gauge('tollgate_ledger_waiting_operations', 'Ledger operations that wait to be written.').set(ledger.waitingCount);
  counter('tollgate_ledger_set_aside_total', 'Ledger operations that could not be written and were set aside.').inc(ledger.setAsideCount);
  gauge('tollgate_limits_alone', '1 while this process counts limits alone: Redis cannot be reached.').set(counts.isAlone ? 1 : 0);
  const out = gauge('tollgate_routes_left_out', 'Routes that are paused: they keep failing or are rate-limited.', 'provider', 'model');
  for (const { provider, model } of pausedRoutes) out.set({ provider, model }, 1);
  return registry.metrics();
}
