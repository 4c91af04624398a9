import type { KeyBudget } from '../accounts/key-budgets.ts';
import type { ListedKey } from '../accounts/key-list.ts';
import type { FreshKey } from '../accounts/keys.ts';
import { formatUsd } from '../ledger/money.ts';
import { formatTime, print, type JsonOption } from './session.ts';
import { sayCount, sayUsd } from './text.ts';

/** Prints a new secret. This is the only time it can be shown. */
export function printFresh(fresh: FreshKey, heading: string, options: JsonOption): void {
  const shown = { id: fresh.id, secret: fresh.secret, prefix: fresh.prefix, last_four: fresh.lastFour };
  print(shown, options, [heading, fresh.secret, 'Store the secret now: it is not shown again.']);
}

/** Describes a key for `--json`. */
export function describeKey(key: ListedKey): Record<string, unknown> {
  return {
    id: key.id,
    name: key.name,
    status: key.status,
    models: key.models ?? null,
    denied_models: key.deniedModels ?? null,
    addresses: key.addresses ?? null,
    tags: key.tags ?? [],
    requests_per_minute: key.requestsPerMinute ?? null,
    tokens_per_minute: key.tokensPerMinute ?? null,
    concurrent: key.concurrent ?? null,
    at_limit: key.atLimit ?? 'stop',
    limit_zone: key.limitZone ?? 'UTC',
    budgets: key.budgets.map(describeBudget),
    expires_at: formatTime(key.expiresAtMs),
    created_at: formatTime(key.createdAtMs),
    secrets: key.secrets.map((secret) => ({
      prefix: secret.prefix,
      last_four: secret.lastFour,
      expires_at: formatTime(secret.expiresAtMs),
      used_at: formatTime(secret.usedAtMs),
      used_from: secret.usedFrom ?? null,
    })),
  };
}

/** Describes a key for people, as cells of a table. */
export function toCells(key: ListedKey): string[] {
  const secrets = key.secrets.map(
    (secret) => `${secret.prefix}…${secret.lastFour}${secret.expiresAtMs === undefined ? '' : ` until ${formatTime(secret.expiresAtMs)}`}`,
  );
  const status = key.status === 'active' ? '' : `, ${key.status.replace('_', ' ')}`;
  const end = key.expiresAtMs === undefined ? '' : `, expires ${formatTime(key.expiresAtMs)}`;
  const budgets = key.budgets.map(({ period, amount, spent }) => `, ${sayUsd(spent)} of ${sayUsd(amount)} spent (${period})`);
  const pace = key.budgets.some((budget) => budget.pace !== undefined) ? ', slows down' : '';
  return [key.id, key.name, `${secrets.join(' and ')}${status}${end}${budgets.join('')}${pace}${rulesOf(key).join('')}`];
}

function rulesOf(key: ListedKey): string[] {
  const { models, deniedModels, requestsPerMinute, tokensPerMinute, concurrent, addresses, tags } = key;
  return [
    ...(models === undefined ? [] : [`, only ${sayNames(models)}`]),
    ...(deniedModels === undefined ? [] : [`, not ${sayNames(deniedModels)}`]),
    ...(requestsPerMinute === undefined ? [] : [`, ${sayCount(requestsPerMinute, 'request')} a minute`]),
    ...(tokensPerMinute === undefined ? [] : [`, ${sayCount(tokensPerMinute, 'token')} a minute`]),
    ...(concurrent === undefined ? [] : [`, ${concurrent} at once`]),
    ...(addresses === undefined ? [] : [`, from ${sayNames(addresses)}`]),
    ...(tags === undefined ? [] : [`, tagged ${sayNames(tags)}`]),
  ];
}

/** Writes out a few names and counts the others. */
function sayNames(names: readonly string[]): string {
  const hidden = names.length - NAMES_SHOWN;
  return `${names.slice(0, NAMES_SHOWN).join(' ')}${hidden > 0 ? ` and ${hidden} more` : ''}` || 'none';
}

const NAMES_SHOWN = 3;

function describeBudget({ period, amount, spent, held, free }: KeyBudget): Record<string, string> {
  return { period, usd: formatUsd(amount), spent: formatUsd(spent), held: formatUsd(held), free: formatUsd(free) };
}
