import { sql, type Kysely } from 'kysely';
import { isReached, readBudgets } from '../accounts/key-budgets.ts';
import type { Tables } from '../database/tables.ts';
import { DAY_MS, HOUR_MS } from '../durations.ts';
import { windowOf } from '../ledger/budget.ts';
import type { AlertKind, AlertRule } from './rules.ts';
import { shortUsd } from './short-usd.ts';

/** A threshold that is crossed at this moment. */
export interface Crossing {
  /** What crossed it, and in which period. The same subject fires once. */
  readonly subject: string;
  readonly title: string;
  readonly text: string;
  readonly keyId?: string;
}

/** An error rate over fewer requests means little. */
const REQUESTS_MIN = 20;
const SESSIONS_MAX = 20n;

/** Tells for any of the rules it was made for what crosses its threshold. */
type Finder = (rule: AlertRule) => readonly Crossing[];

/** The accounts to look at, and when. */
interface Look {
  readonly accountIds: readonly string[];
  readonly nowMs: number;
}

/**
 * Returns everything that currently crosses the thresholds of these rules, by rule id. Rules of one kind are read together: one by one,
 * thousands of rules would keep the database busy with questions whose answer is nearly always no.
 */
export async function findCrossings(
  database: Kysely<Tables>,
  rules: readonly AlertRule[],
  nowMs: number,
): Promise<ReadonlyMap<string, readonly Crossing[]>> {
  const found = new Map<string, readonly Crossing[]>();
  for (const kind of new Set(rules.map((rule) => rule.kind))) {
    const same = rules.filter((rule) => rule.kind === kind);
    const find = await prepare(database, kind, { accountIds: [...new Set(same.map(({ accountId }) => accountId))], nowMs });
    for (const rule of same) found.set(rule.id, find(rule));
  }
  return found;
}

function prepare(database: Kysely<Tables>, kind: AlertKind, look: Look): Promise<Finder> {
  switch (kind) {
    case 'low_balance':
      return findLowBalances(database, look);
    case 'spend_day':
      return findSpend(database, look, 'day');
    case 'spend_month':
      return findSpend(database, look, 'month');
    case 'key_limit':
      return findKeyLimits(database, look);
    case 'error_rate':
      return findErrors(database, look);
    case 'key_expiring':
      return findExpiring(database, look);
    case 'sign_in':
      return findSignIns(database, look);
  }
}

/** Ignores holds of running requests: they come and go, and the alert would fire with them. */
async function findLowBalances(database: Kysely<Tables>, { accountIds }: Look): Promise<Finder> {
  const wallets = await database
    .selectFrom('wallets')
    .select(['account_id', 'credits_posted', 'debits_posted'])
    .where('account_id', 'in', accountIds)
    .execute();
  const balances = new Map(wallets.map((row) => [row.account_id, row.credits_posted - row.debits_posted]));
  return ({ accountId, threshold }) => {
    const balance = balances.get(accountId);
    if (balance === undefined || balance >= threshold) return [];
    const text = `It is below ${shortUsd(threshold)}. Top up before requests are refused.`;
    return [{ subject: '', title: `The balance is ${shortUsd(balance)}`, text }];
  };
}

/** A day or month begins by the clock of the account's owner. */
async function findSpend(database: Kysely<Tables>, { accountIds, nowMs }: Look, period: 'day' | 'month'): Promise<Finder> {
  const zones = await readZones(database, accountIds);
  const zoneOf = (accountId: string): string => zones.get(accountId) ?? 'UTC';
  const starts = new Map([...new Set(accountIds.map(zoneOf))].map((zone) => [zone, windowOf(period, nowMs, zone).startMs]));
  const startOf = (accountId: string): number => starts.get(zoneOf(accountId)) ?? nowMs;
  const sums = new Map<string, Sums>();
  for (const [startMs, ids] of Map.groupBy(accountIds, startOf))
    for (const [accountId, sum] of await sumSince(database, ids, startMs)) sums.set(accountId, sum);
  return ({ accountId, threshold }) => {
    const cost = sums.get(accountId)?.cost ?? 0n;
    if (cost < threshold) return [];
    const when = period === 'day' ? 'today' : 'this month';
    const text = `That is ${shortUsd(threshold)} or more since the ${period} began (${zoneOf(accountId)}).`;
    return [{ subject: String(startOf(accountId)), title: `${shortUsd(cost)} spent ${when}`, text }];
  };
}

/** Returns the time zones that the owners of these accounts have chosen, by account. */
async function readZones(database: Kysely<Tables>, accountIds: readonly string[]): Promise<ReadonlyMap<string | null, string>> {
  const people = await database.selectFrom('people').select(['account_id', 'zone']).where('account_id', 'in', accountIds).execute();
  return new Map(people.flatMap(({ account_id: accountId, zone }) => (zone === null ? [] : [[accountId, zone] as const])));
}

async function findKeyLimits(database: Kysely<Tables>, { accountIds, nowMs }: Look): Promise<Finder> {
  // Asked key by key: a list of all keys with budgets would be read for every page of rules.
  const limited = keysOf(database, accountIds).where((where) =>
    where.exists(where.selectFrom('key_budgets').select('key_id').whereRef('key_id', '=', 'api_keys.id')),
  );
  const keys = byAccount(await limited.execute());
  const budgets = await readBudgets(database, limited.clearSelect().clearOrderBy().select('id'), nowMs);
  return ({ accountId, threshold }) =>
    (keys.get(accountId) ?? []).flatMap(({ id, name }) =>
      (budgets.get(id) ?? [])
        .filter((budget) => (threshold >= 100n ? isReached(budget) : budget.spent * 100n >= budget.amount * threshold || isReached(budget)))
        .map((budget) => ({
          subject: `${id} ${budget.period} ${windowOf(budget.period, nowMs, budget.zone).startMs}`,
          keyId: id,
          title: `The key “${name}” is at ${threshold >= 100n ? 'its limit' : `${threshold} % of its limit`}`,
          text: `${shortUsd(budget.spent)} of ${shortUsd(budget.amount)} spent (${budget.period === 'total' ? 'in total' : `this ${budget.period}, ${budget.zone}`}).`,
        })),
    );
}

async function findErrors(database: Kysely<Tables>, { accountIds, nowMs }: Look): Promise<Finder> {
  const sums = await sumSince(database, accountIds, nowMs - HOUR_MS);
  return ({ accountId, threshold }) => {
    const { requests, errors } = sums.get(accountId) ?? { requests: 0n, errors: 0n };
    if (requests < REQUESTS_MIN || errors * 100n < requests * threshold) return [];
    const percent = (errors * 100n) / requests;
    return [
      { subject: '', title: `${percent} % of requests are failing`, text: `${errors} of ${requests} requests in the last hour failed.` },
    ];
  };
}

async function findExpiring(database: Kysely<Tables>, { accountIds, nowMs }: Look): Promise<Finder> {
  const keys = byAccount(await keysOf(database, accountIds).where('expires_at', '>', BigInt(nowMs)).execute());
  return ({ accountId, threshold }) =>
    (keys.get(accountId) ?? [])
      .filter(({ expires_at: expiresAt }) => Number(expiresAt) <= nowMs + Number(threshold) * DAY_MS)
      .map(({ id, name, expires_at: expiresAt }) => {
        const at = new Date(Number(expiresAt)).toISOString().replace('T', ' ').slice(0, 16);
        return {
          subject: `${id} ${expiresAt}`,
          keyId: id,
          title: `The key “${name}” expires soon`,
          text: `It works until ${at} UTC. Extend its validity, or replace it.`,
        };
      });
}

/**
 * Selects the accounts' keys that are not deleted, oldest first. Only the columns alerts need, because this runs over and over for all
 * accounts.
 */
function keysOf(database: Kysely<Tables>, accountIds: readonly string[]) {
  return database
    .selectFrom('api_keys')
    .select(['id', 'account_id', 'name', 'expires_at'])
    .where('account_id', 'in', accountIds)
    .where('deleted_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id');
}

/** Each session fires once, and is forgotten after a day. */
async function findSignIns(database: Kysely<Tables>, { accountIds, nowMs }: Look): Promise<Finder> {
  const sessions = database
    .selectFrom('sessions')
    .innerJoin('people', 'people.id', 'sessions.person_id')
    .select(['people.account_id', 'sessions.id', 'sessions.address', 'sessions.user_agent', 'sessions.created_at', 'people.email'])
    .select(sql<bigint>`ROW_NUMBER() OVER (PARTITION BY people.account_id ORDER BY sessions.created_at DESC)`.as('place'))
    .where('people.account_id', 'in', accountIds);
  const newest = await database.selectFrom(sessions.as('newest')).selectAll().where('place', '<=', SESSIONS_MAX).orderBy('place').execute();
  const rows = byAccount(newest);
  return ({ accountId, createdAtMs }) =>
    (rows.get(accountId) ?? [])
      .filter((row) => new Date(row.created_at).getTime() > Math.max(createdAtMs, nowMs - DAY_MS))
      .map(({ id, address, user_agent: agent, email }) => ({
        subject: id,
        title: `New sign-in as ${email}`,
        text: `From ${address ?? 'an unknown address'}${agent === null ? '' : `, ${agent.slice(0, 200)}`}. If this was not you, end the session in the settings and change your password.`,
      }));
}

function byAccount<Row extends { readonly account_id: string | null }>(rows: readonly Row[]): ReadonlyMap<string | null, Row[]> {
  return Map.groupBy(rows, (row) => row.account_id);
}

interface Sums {
  readonly cost: bigint;
  readonly requests: bigint;
  readonly errors: bigint;
}

/** Returns the sums by account. Accounts without requests have none. */
async function sumSince(database: Kysely<Tables>, accountIds: readonly string[], sinceMs: number): Promise<ReadonlyMap<string, Sums>> {
  const rows = await database
    .selectFrom('usage_rollups')
    .select(({ fn }) => ['account_id', fn.sum<bigint>('cost').as('cost'), fn.sum<bigint>('requests').as('requests')])
    .select(({ fn }) => fn.sum<bigint>('errors').as('errors'))
    .where('account_id', 'in', accountIds)
    .where('quarter_hour', '>=', BigInt(sinceMs))
    .groupBy('account_id')
    .execute();
  return new Map(rows.map((row) => [row.account_id, row]));
}
