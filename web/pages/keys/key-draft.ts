import { addDays, DAY_MS, dayOf, dayStartMs } from '../../time.ts';
import type { Key } from './queries.ts';

export const EXPIRIES = ['never', '7', '30', '90', 'date'] as const;
export const AT_LIMIT = ['stop', 'slow_down'] as const;
export const PERIODS = ['day', 'week', 'month', 'total'] as const;

/** A key as edited in the form, with texts as typed. */
export interface KeyDraft {
  readonly name: string;
  readonly expiry: (typeof EXPIRIES)[number];
  readonly expiryDay: string;
  readonly budgets: Readonly<Record<(typeof PERIODS)[number], string>>;
  readonly atLimit: Key['atLimit'];
  readonly limitZone: string;
  readonly requestsPerMinute: string;
  readonly tokensPerMinute: string;
  readonly concurrent: string;
  /** Undefined for all models. */
  readonly models: readonly string[] | undefined;
  readonly deniedModels: readonly string[];
  readonly addresses: string;
  readonly tags: string;
}

export const EMPTY_DRAFT: KeyDraft = {
  name: '',
  expiry: 'never',
  expiryDay: '',
  budgets: { day: '', week: '', month: '', total: '' },
  atLimit: 'stop',
  limitZone: 'UTC',
  requestsPerMinute: '',
  tokensPerMinute: '',
  concurrent: '',
  models: undefined,
  deniedModels: [],
  addresses: '',
  tags: '',
};

/** Converts a key to a draft. */
export function draftOf(key: Key, zone: string): KeyDraft {
  const budgetOf = (period: string): string => key.budgets.find((budget) => budget.period === period)?.usd ?? '';
  return {
    name: key.name,
    expiry: key.expiresAtMs === null ? 'never' : 'date',
    expiryDay: key.expiresAtMs === null ? '' : dayOf(key.expiresAtMs - 1, zone),
    budgets: { day: budgetOf('day'), week: budgetOf('week'), month: budgetOf('month'), total: budgetOf('total') },
    atLimit: key.atLimit,
    limitZone: key.limitZone,
    requestsPerMinute: textOf(key.requestsPerMinute),
    tokensPerMinute: textOf(key.tokensPerMinute),
    concurrent: textOf(key.concurrent),
    models: key.models ?? undefined,
    deniedModels: key.deniedModels,
    addresses: key.addresses.join('\n'),
    tags: key.tags.join(', '),
  };
}

/** Returns the changes to send: fields that differ from the initial draft, with null to remove a value. */
export function changesOf(draft: KeyDraft, initial: KeyDraft, zone: string) {
  const differs = (field: keyof KeyDraft): boolean => JSON.stringify(draft[field] ?? null) !== JSON.stringify(initial[field] ?? null);
  const hasExpiryChanged = differs('expiry') || differs('expiryDay');
  return {
    ...(differs('name') && { name: draft.name.trim() }),
    ...(hasExpiryChanged && { expiresAtMs: expiryOf(draft, zone) }),
    ...(differs('budgets') && { budgets: budgetsOf(draft) }),
    ...(differs('atLimit') && { atLimit: draft.atLimit }),
    ...(differs('limitZone') && { limitZone: draft.limitZone }),
    ...(differs('requestsPerMinute') && { requestsPerMinute: numberOf(draft.requestsPerMinute) }),
    ...(differs('tokensPerMinute') && { tokensPerMinute: numberOf(draft.tokensPerMinute) }),
    ...(differs('concurrent') && { concurrent: numberOf(draft.concurrent) }),
    ...(differs('models') && { models: draft.models === undefined ? null : [...draft.models] }),
    ...(differs('deniedModels') && { deniedModels: [...draft.deniedModels] }),
    ...(differs('addresses') && { addresses: listOf(draft.addresses) }),
    ...(differs('tags') && { tags: listOf(draft.tags) }),
  };
}

/** Returns when a key expires. A chosen day counts to its end in the user's time zone. */
export function expiryOf({ expiry, expiryDay }: Pick<KeyDraft, 'expiry' | 'expiryDay'>, zone: string): number | null {
  if (expiry === 'never') return null;
  if (expiry !== 'date') return Date.now() + Number(expiry) * DAY_MS;
  return expiryDay === '' ? null : dayStartMs(addDays(expiryDay, 1), zone);
}

function budgetsOf({ budgets }: KeyDraft): Record<(typeof PERIODS)[number], string | null> {
  const { day, week, month, total } = budgets;
  return { day: amountOf(day), week: amountOf(week), month: amountOf(month), total: amountOf(total) };
}

function amountOf(text: string): string | null {
  return text.trim() === '' ? null : text.trim();
}

function listOf(text: string): string[] {
  return text
    .split(/[\n,]/u)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

function numberOf(text: string): number | null {
  return text === '' ? null : Number(text);
}

function textOf(value: number | null): string {
  return value === null ? '' : String(value);
}
