import { Counter, Gauge, Registry } from '@prometheus-io/client';
import type { Counts } from './metrics.ts';

/** The numbers as Prometheus reads them. */
export function writeMetrics(counts: Counts, waiting: number): Promise<string> {
  const registry = new Registry();
  const counter = (name: string, help: string, value: number): void => new Counter({ name, help, registers: [registry] }).inc(value);
  const gauge = (name: string, help: string, value: number): void => new Gauge({ name, help, registers: [registry] }).set(value);
  const requests = new Counter({
    name: 'tollgate_requests_total',
    help: 'Requests that reached a provider or tried to, by how they ended.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  for (const [outcome, count] of counts.outcomes) requests.inc({ outcome }, count);
  counter('tollgate_charged_nanodollars_total', 'What accounts were charged, in nano-dollars.', counts.chargedNanos);
  counter('tollgate_estimated_total', 'Requests charged by our own count, because the provider gave no credible one.', counts.estimated);
  counter('tollgate_hold_overruns_total', 'Requests that cost more than was held for them.', counts.overruns);
  counter('tollgate_resolved_before_total', 'Requests whose hold was already resolved when they ended.', counts.resolvedBefore);
  counter('tollgate_recovered_holds_total', 'Holds of dead processes that were settled.', counts.recoveredHolds);
  const differences = new Gauge({
    name: 'tollgate_ledger_differences',
    help: 'Places where the last verification found a difference, by rule.',
    labelNames: ['rule'],
    registers: [registry],
  });
  for (const [rule, places] of counts.differences) differences.set({ rule }, places);
  gauge('tollgate_ledger_verified_timestamp_seconds', 'When the ledger was last verified.', counts.verifiedAtMs / 1000);
  gauge('tollgate_ledger_waiting_operations', 'Ledger operations that wait to be written.', waiting);
  return registry.metrics();
}
