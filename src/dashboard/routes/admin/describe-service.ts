import { costAtList } from '../../../catalog/list-prices.ts';
import { asNanos, formatUsd } from '../../../ledger/money.ts';
import type { Liability } from '../../../ledger/service-money.ts';
import type { LedgerState } from '../../../observe/metrics.ts';
import type { FailedAttempts } from '../../../usage/failed-attempts.ts';
import { CLIENT_ERRORS } from '../../../usage/health.ts';
import type { ServiceSums } from '../../../usage/service-sums.ts';
import { addAll, type Sums } from '../../../usage/sums.ts';

const SERIES_MAX = 6;

/** Sums up all requests. */
export function describeTotal(cells: readonly ServiceSums[]) {
  const { requests, errors, cost } = addAll(cells.map(({ sums }) => sums));
  return { chargedUsd: formatUsd(cost), requests, errors };
}

/** Describes the charges of each bucket by model, with the smaller models combined. */
export function describeCharges(cells: readonly ServiceSums[], bucketCount: number) {
  const models = byCost(cells, ({ model }) => model).filter(({ sums }) => sums.cost > 0n);
  const shown = models.slice(0, models.length > SERIES_MAX ? SERIES_MAX - 1 : SERIES_MAX);
  const rest = new Set(models.slice(shown.length).map(({ name }) => name));
  const valuesOf = (isIncluded: (model: string) => boolean): string[] => {
    const sums = Array.from({ length: bucketCount }, () => 0n);
    for (const { n, model, sums: each } of cells) if (isIncluded(model)) sums[n] = (sums[n] ?? 0n) + each.cost;
    return sums.map((sum) => formatUsd(asNanos(sum)));
  };
  const named = shown.map(({ name }) => ({ name, count: 1, values: valuesOf((model) => model === name) }));
  return { series: rest.size === 0 ? named : [...named, { name: null, count: rest.size, values: valuesOf((model) => rest.has(model)) }] };
}

/** Counts calls and failures by provider. The caller's mistakes do not count as failures of the provider. */
export function describeProviders(cells: readonly ServiceSums[], attempts: readonly FailedAttempts[]) {
  const answered = new Map(byCost(cells, ({ provider }) => provider).map(({ name, sums }) => [name, sums]));
  const names = new Set([...answered.keys(), ...attempts.map(({ provider }) => provider)].filter((name) => name !== ''));
  const providers = [...names].map((name) => {
    const own = attempts.filter(({ provider }) => provider === name);
    const [requests, errors] = [answered.get(name)?.requests ?? 0, answered.get(name)?.errors ?? 0];
    return {
      name,
      asked: requests + countAll(own),
      failed: errors + countAll(own.filter(({ outcome }) => !CLIENT_ERRORS.includes(outcome))),
      brokenOff: errors,
      outcomes: own.map(({ outcome, count }) => ({ outcome, count })),
    };
  });
  return providers.toSorted((one, other) => other.asked - one.asked);
}

function countAll(attempts: readonly FailedAttempts[]): number {
  return attempts.reduce((total, { count }) => total + count, 0);
}

/** Describes the models, highest charges first. */
export function describeModels(cells: readonly ServiceSums[]) {
  return byCost(cells, ({ model }) => model).map(({ name, sums: { requests, cost } }) => ({
    id: name,
    requests,
    chargedUsd: formatUsd(cost),
  }));
}

/**
 * Compares the charges with the cost of the same tokens at list prices. Charges without a known list price are left out and reported
 * separately.
 */
export function describeMargin(cells: readonly ServiceSums[]) {
  let [charged, listed] = [0n, 0n];
  const unlisted = new Map<string, bigint>();
  for (const { model, provider, sums } of byModelAndProvider(cells)) {
    const atList = costAtList(model, provider, sums);
    if (atList === undefined) {
      if (sums.cost > 0n) unlisted.set(model, (unlisted.get(model) ?? 0n) + sums.cost);
      continue;
    }
    charged += sums.cost;
    listed += atList;
  }
  const left = [...unlisted.values()].reduce((sum, cost) => sum + cost, 0n);
  return {
    hasAny: charged > 0n || listed > 0n,
    chargedUsd: formatUsd(asNanos(charged)),
    listedUsd: formatUsd(asNanos(listed)),
    marginUsd: formatUsd(asNanos(charged - listed)),
    unlistedUsd: formatUsd(asNanos(left)),
    unlisted: [...unlisted.keys()].toSorted(),
  };
}

/** Describes the balance liability and the result of the last ledger verification. */
export function describeBooks({ balance, debts, byKind, held, holds }: Liability, { waiting, verified }: LedgerState) {
  return {
    balanceUsd: formatUsd(balance),
    debtsUsd: formatUsd(debts),
    paidUsd: formatUsd(byKind.paid),
    planUsd: formatUsd(byKind.plan),
    promoUsd: formatUsd(byKind.promo),
    manualUsd: formatUsd(byKind.manual),
    heldUsd: formatUsd(held),
    holds,
    waiting,
    verified:
      verified === undefined
        ? null
        : { atMs: verified.atMs, rules: verified.checks.length, broken: verified.checks.filter(({ ok }) => !ok) },
  };
}

/** Sums over time before pricing, so that amounts are rounded only once. */
function byModelAndProvider(cells: readonly ServiceSums[]): { model: string; provider: string; sums: Sums }[] {
  const groups = Map.groupBy(cells, ({ model, provider }) => `${model}\n${provider}`);
  return [...groups.values()].map((group) => {
    const [{ model, provider } = { model: '', provider: '' }] = group;
    return { model, provider, sums: addAll(group.map(({ sums }) => sums)) };
  });
}

function byCost(cells: readonly ServiceSums[], nameOf: (cell: ServiceSums) => string): { name: string; sums: Sums }[] {
  const groups = Map.groupBy(cells, nameOf);
  const all = [...groups].map(([name, group]) => ({ name, sums: addAll(group.map(({ sums }) => sums)) }));
  return all.toSorted((one, other) => Number(other.sums.cost - one.sums.cost) || other.sums.requests - one.sums.requests);
}
