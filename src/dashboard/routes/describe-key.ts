import { isReached, type KeyBudget } from '../../accounts/key-budgets.ts';
import type { ListedKey, ListedSecret } from '../../accounts/key-list.ts';
import { isPlaygroundKey } from '../../accounts/playground-key.ts';
import { formatUsd } from '../../ledger/money.ts';
import { NO_SPEND, type KeySpend } from '../../usage/key-usage.ts';
import { writeCsvLine } from '../../usage/csv.ts';
import { zoneWriter } from '../../usage/zone.ts';

type DescribedKey = ReturnType<typeof describeKey>;

/** Describes a key for the browser. Absent values are null, amounts are decimal strings. */
export function describeKey(key: ListedKey, spend: KeySpend = NO_SPEND) {
  const lastUsed = key.secrets.reduce<ListedSecret | undefined>(
    (latest, secret) => ((secret.usedAtMs ?? 0) > (latest?.usedAtMs ?? 0) ? secret : latest),
    undefined,
  );
  const overlaps = key.secrets.flatMap(({ expiresAtMs }) => expiresAtMs ?? []);
  return {
    id: key.id,
    name: key.name,
    /** True for the key that only the dashboard's own pages use. */
    isPlayground: isPlaygroundKey(key.id),
    status: key.status,
    /** The time until which older secrets work, while the key is being rotated. */
    rotatingUntilMs: overlaps.length === 0 ? null : Math.max(...overlaps),
    createdAtMs: key.createdAtMs,
    expiresAtMs: key.expiresAtMs ?? null,
    disabledAtMs: key.disabledAtMs ?? null,
    models: key.models ?? null,
    deniedModels: key.deniedModels ?? [],
    addresses: key.addresses ?? [],
    tags: key.tags ?? [],
    requestsPerMinute: key.requestsPerMinute ?? null,
    tokensPerMinute: key.tokensPerMinute ?? null,
    concurrent: key.concurrent ?? null,
    atLimit: key.atLimit ?? 'stop',
    limitZone: key.limitZone ?? 'UTC',
    budgets: key.budgets.map(describeBudget),
    secrets: key.secrets.map(describeSecret),
    usedAtMs: lastUsed?.usedAtMs ?? null,
    usedFrom: lastUsed?.usedFrom ?? null,
    spentTodayUsd: formatUsd(spend.today),
    spentMonthUsd: formatUsd(spend.month),
    spentTotalUsd: formatUsd(spend.total),
    requestsLastDay: spend.requestsLastDay,
  };
}

/** Writes the list as CSV. Times, and spending per day and month, follow the calendar of the zone. */
export async function* keysCsv(keys: readonly DescribedKey[], zone: string): AsyncGenerator<string> {
  const writeTime = zoneWriter(zone);
  const timeOf = (ms: number | null): string | null => (ms === null ? null : writeTime(ms));
  yield writeCsvLine([...COLUMNS.map(([title]) => title), ...TIMES.map(([title]) => title), 'zone']);
  for (const key of keys) {
    yield writeCsvLine([...COLUMNS.map(([, read]) => read(key)), ...TIMES.map(([, read]) => timeOf(read(key))), zone]);
  }
}

const COLUMNS: readonly (readonly [title: string, read: (key: DescribedKey) => string | number | null])[] = [
  ['id', (key) => key.id],
  ['name', (key) => key.name],
  ['kind', (key) => (key.isPlayground ? 'playground' : 'key')],
  ['secrets', (key) => key.secrets.map(({ shown }) => shown).join(' ')],
  ['status', (key) => key.status],
  ['spent_today_usd', (key) => key.spentTodayUsd],
  ['spent_month_usd', (key) => key.spentMonthUsd],
  ['spent_total_usd', (key) => key.spentTotalUsd],
  ...(['day', 'week', 'month', 'total'] as const).map(
    (period) =>
      [`limit_${period}_usd`, (key: DescribedKey) => key.budgets.find((budget) => budget.period === period)?.usd ?? null] as const,
  ),
  ['at_limit', (key) => key.atLimit],
  ['limit_zone', (key) => key.limitZone],
  ['models', (key) => key.models?.join(' ') ?? 'all'],
  ['denied_models', (key) => key.deniedModels.join(' ')],
  ['addresses', (key) => key.addresses.join(' ')],
  ['tags', (key) => key.tags.join(' ')],
  ['requests_per_minute', (key) => key.requestsPerMinute],
  ['tokens_per_minute', (key) => key.tokensPerMinute],
  ['concurrent', (key) => key.concurrent],
  ['last_used_from', (key) => key.usedFrom],
];

const TIMES: readonly (readonly [title: string, read: (key: DescribedKey) => number | null])[] = [
  ['last_used_at', (key) => key.usedAtMs],
  ['created_at', (key) => key.createdAtMs],
  ['expires_at', (key) => key.expiresAtMs],
];

/** Describes a budget for the browser. */
export function describeBudget(budget: KeyBudget) {
  return {
    period: budget.period,
    usd: formatUsd(budget.amount),
    spentUsd: formatUsd(budget.spent),
    heldUsd: formatUsd(budget.held),
    /** The amount that a request could hold right now. */
    freeUsd: formatUsd(budget.free),
    zone: budget.zone,
    /** For a key that slows down at its limit: the amount released per hour and, if none is free now, when some will be. */
    pace: budget.pace === undefined ? null : { perHourUsd: formatUsd(budget.pace.perHour), freeAtMs: budget.pace.freeAtMs ?? null },
    resetsAtMs: budget.resetsAtMs ?? null,
    refusedAtMs: budget.refusedAtMs ?? null,
    isReached: isReached(budget),
  };
}

function describeSecret(secret: ListedSecret) {
  return {
    shown: `${secret.prefix}…${secret.lastFour}`,
    createdAtMs: secret.createdAtMs,
    expiresAtMs: secret.expiresAtMs ?? null,
    usedAtMs: secret.usedAtMs ?? null,
    usedFrom: secret.usedFrom ?? null,
  };
}
