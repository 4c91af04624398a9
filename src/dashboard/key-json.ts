import type { FieldChange, RecordedEntry } from '../accounts/audit.ts';
import { isReached, type KeyBudget } from '../accounts/key-budgets.ts';
import type { AtLimit } from '../accounts/key-settings.ts';
import type { KeyStatus, ListedKey, ListedSecret } from '../accounts/key-list.ts';
import type { FreshKey } from '../accounts/keys.ts';
import { isPlaygroundKey } from '../accounts/playground-key.ts';
import { formatUsd } from '../ledger/money.ts';
import { NO_SPEND, type KeySpend } from '../usage/key-usage.ts';
import { writeCsvLine } from '../usage/csv.ts';

/** Keys as the browser gets them: absent is null, money is a decimal string. */

export interface KeyJson {
  readonly id: string;
  readonly name: string;
  /** The key with which the dashboard's own pages call, and no program. */
  readonly isPlayground: boolean;
  readonly status: KeyStatus;
  /** Until when older secrets work, while the key is being rotated. */
  readonly rotatingUntilMs: number | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  readonly disabledAtMs: number | null;
  readonly models: readonly string[] | null;
  readonly deniedModels: readonly string[];
  readonly addresses: readonly string[];
  readonly tags: readonly string[];
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  readonly concurrent: number | null;
  readonly atLimit: AtLimit;
  readonly limitZone: string;
  readonly budgets: readonly BudgetJson[];
  readonly secrets: readonly SecretJson[];
  readonly usedAtMs: number | null;
  readonly usedFrom: string | null;
  readonly spentTodayUsd: string;
  readonly spentMonthUsd: string;
  readonly spentTotalUsd: string;
  /** Of the last 24 hours. */
  readonly requestsLastDay: number;
}

export interface BudgetJson {
  readonly period: KeyBudget['period'];
  readonly usd: string;
  readonly spentUsd: string;
  readonly heldUsd: string;
  /** What a request could hold at this moment. */
  readonly freeUsd: string;
  readonly zone: string;
  /** Where the key slows down: what is let out in an hour, and from when on anything is free, where nothing is now. */
  readonly pace: { readonly perHourUsd: string; readonly freeAtMs: number | null } | null;
  readonly resetsAtMs: number | null;
  readonly refusedAtMs: number | null;
  readonly isReached: boolean;
}

export interface SecretJson {
  readonly shown: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  readonly usedAtMs: number | null;
  readonly usedFrom: string | null;
}

export interface AuditJson {
  readonly id: string;
  readonly actor: string;
  readonly action: string;
  readonly createdAtMs: number;
  readonly changes: readonly FieldChange[];
}

/** A secret, the only time that it is told. */
export interface FreshJson {
  readonly id: string;
  readonly name: string;
  readonly secret: string;
}

export function keyJson(key: ListedKey, spend: KeySpend = NO_SPEND): KeyJson {
  const lastUsed = key.secrets.reduce<ListedSecret | undefined>(
    (latest, secret) => ((secret.usedAtMs ?? 0) > (latest?.usedAtMs ?? 0) ? secret : latest),
    undefined,
  );
  const overlaps = key.secrets.flatMap(({ expiresAtMs }) => expiresAtMs ?? []);
  return {
    id: key.id,
    name: key.name,
    isPlayground: isPlaygroundKey(key.id),
    status: key.status,
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
    budgets: key.budgets.map(budgetJson),
    secrets: key.secrets.map(secretJson),
    usedAtMs: lastUsed?.usedAtMs ?? null,
    usedFrom: lastUsed?.usedFrom ?? null,
    spentTodayUsd: formatUsd(spend.today),
    spentMonthUsd: formatUsd(spend.month),
    spentTotalUsd: formatUsd(spend.total),
    requestsLastDay: spend.requestsLastDay,
  };
}

export function freshJson({ id, secret }: FreshKey, name: string): FreshJson {
  return { id, name, secret };
}

export function auditJson({ id, actor, action, createdAtMs, changes }: RecordedEntry): AuditJson {
  return { id, actor, action, createdAtMs, changes };
}

/** The list for a spreadsheet. Times are UTC, amounts USD; the day and the month of what was spent are those of the zone. */
export async function* keysCsv(keys: readonly KeyJson[], zone: string): AsyncGenerator<string> {
  yield writeCsvLine([...COLUMNS.map(([title]) => title), 'spent_zone']);
  for (const key of keys) yield writeCsvLine([...COLUMNS.map(([, read]) => read(key)), zone]);
}

const COLUMNS: readonly (readonly [title: string, read: (key: KeyJson) => string | number | null])[] = [
  ['id', (key) => key.id],
  ['name', (key) => key.name],
  ['kind', (key) => (key.isPlayground ? 'playground' : 'key')],
  ['secrets', (key) => key.secrets.map(({ shown }) => shown).join(' ')],
  ['status', (key) => key.status],
  ['spent_today_usd', (key) => key.spentTodayUsd],
  ['spent_month_usd', (key) => key.spentMonthUsd],
  ['spent_total_usd', (key) => key.spentTotalUsd],
  ...(['day', 'week', 'month', 'total'] as const).map(
    (period) => [`limit_${period}_usd`, (key: KeyJson) => key.budgets.find((budget) => budget.period === period)?.usd ?? null] as const,
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
  ['last_used', (key) => timeText(key.usedAtMs)],
  ['last_used_from', (key) => key.usedFrom],
  ['created', (key) => timeText(key.createdAtMs)],
  ['expires', (key) => timeText(key.expiresAtMs)],
];

export function budgetJson(budget: KeyBudget): BudgetJson {
  return {
    period: budget.period,
    usd: formatUsd(budget.amount),
    spentUsd: formatUsd(budget.spent),
    heldUsd: formatUsd(budget.held),
    freeUsd: formatUsd(budget.free),
    zone: budget.zone,
    pace: budget.pace === undefined ? null : { perHourUsd: formatUsd(budget.pace.perHour), freeAtMs: budget.pace.freeAtMs ?? null },
    resetsAtMs: budget.resetsAtMs ?? null,
    refusedAtMs: budget.refusedAtMs ?? null,
    isReached: isReached(budget),
  };
}

function secretJson(secret: ListedSecret): SecretJson {
  return {
    shown: `${secret.prefix}…${secret.lastFour}`,
    createdAtMs: secret.createdAtMs,
    expiresAtMs: secret.expiresAtMs ?? null,
    usedAtMs: secret.usedAtMs ?? null,
    usedFrom: secret.usedFrom ?? null,
  };
}

function timeText(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
