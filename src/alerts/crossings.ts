import type { Kysely } from 'kysely';
import { isReached, readBudgets } from '../accounts/key-budgets.ts';
import type { Tables } from '../database/tables.ts';
import { DAY_MS, HOUR_MS } from '../durations.ts';
import { windowOf, windowStartMs } from '../ledger/budget.ts';
import type { AlertRule } from './rules.ts';
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
const SESSIONS_MAX = 20;

/** Returns everything that currently crosses a rule's threshold. */
export async function findCrossings(database: Kysely<Tables>, rule: AlertRule, nowMs: number): Promise<Crossing[]> {
  switch (rule.kind) {
    case 'low_balance':
      return findLowBalance(database, rule);
    case 'spend_day':
      return findSpend(database, rule, { period: 'day', nowMs });
    case 'spend_month':
      return findSpend(database, rule, { period: 'month', nowMs });
    case 'key_limit':
      return findKeyLimits(database, rule, nowMs);
    case 'error_rate':
      return findErrors(database, rule, nowMs);
    case 'key_expiring':
      return findExpiring(database, rule, nowMs);
    case 'sign_in':
      return findSignIns(database, rule, nowMs);
  }
}

/** Ignores holds of running requests: they come and go, and the alert would fire with them. */
async function findLowBalance(database: Kysely<Tables>, { accountId, threshold }: AlertRule): Promise<Crossing[]> {
  const wallet = await database.selectFrom('wallets').selectAll().where('account_id', '=', accountId).executeTakeFirst();
  if (wallet === undefined) return [];
  const balance = wallet.credits_posted - wallet.debits_posted;
  if (balance >= threshold) return [];
  const text = `It is below ${shortUsd(threshold)}. Top up before requests are refused.`;
  return [{ subject: '', title: `The balance is ${shortUsd(balance)}`, text }];
}

interface Window {
  readonly period: 'day' | 'month';
  readonly nowMs: number;
}

async function findSpend(database: Kysely<Tables>, { accountId, threshold }: AlertRule, { period, nowMs }: Window): Promise<Crossing[]> {
  const startMs = windowStartMs(period, nowMs);
  const { cost } = await sumSince(database, accountId, startMs);
  if (cost < threshold) return [];
  const when = period === 'day' ? 'today' : 'this month';
  const text = `That is ${shortUsd(threshold)} or more since the ${period} began (UTC).`;
  return [{ subject: String(startMs), title: `${shortUsd(cost)} spent ${when}`, text }];
}

async function findKeyLimits(database: Kysely<Tables>, { accountId, threshold }: AlertRule, nowMs: number): Promise<Crossing[]> {
  const limited = keysOf(database, accountId).where('id', 'in', database.selectFrom('key_budgets').select('key_id'));
  const keys = await limited.execute();
  const budgets = await readBudgets(database, limited.clearSelect().select('id'), nowMs);
  return keys.flatMap(({ id, name }) =>
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

async function findErrors(database: Kysely<Tables>, { accountId, threshold }: AlertRule, nowMs: number): Promise<Crossing[]> {
  const { requests, errors } = await sumSince(database, accountId, nowMs - HOUR_MS);
  if (requests < REQUESTS_MIN || errors * 100n < requests * threshold) return [];
  const percent = (errors * 100n) / requests;
  return [
    { subject: '', title: `${percent} % of requests are failing`, text: `${errors} of ${requests} requests in the last hour failed.` },
  ];
}

async function findExpiring(database: Kysely<Tables>, { accountId, threshold }: AlertRule, nowMs: number): Promise<Crossing[]> {
  const untilMs = nowMs + Number(threshold) * DAY_MS;
  const keys = await keysOf(database, accountId)
    .where('expires_at', '>', BigInt(nowMs))
    .where('expires_at', '<=', BigInt(untilMs))
    .execute();
  return keys.map(({ id, name, expires_at: expiresAt }) => {
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
 * Selects an account's keys that are not deleted, oldest first. Only the columns alerts need, because this runs over and over for all
 * accounts.
 */
function keysOf(database: Kysely<Tables>, accountId: string) {
  return database
    .selectFrom('api_keys')
    .select(['id', 'name', 'expires_at'])
    .where('account_id', '=', accountId)
    .where('deleted_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id');
}

/** Each session fires once, and is forgotten after a day. */
async function findSignIns(database: Kysely<Tables>, { accountId, createdAtMs }: AlertRule, nowMs: number): Promise<Crossing[]> {
  const rows = await database
    .selectFrom('sessions')
    .innerJoin('people', 'people.id', 'sessions.person_id')
    .select(['sessions.id', 'sessions.address', 'sessions.user_agent', 'sessions.created_at', 'people.email'])
    .where('people.account_id', '=', accountId)
    .orderBy('sessions.created_at', 'desc')
    .limit(SESSIONS_MAX)
    .execute();
  return rows
    .filter((row) => new Date(row.created_at).getTime() > Math.max(createdAtMs, nowMs - DAY_MS))
    .map(({ id, address, user_agent: agent, email }) => ({
      subject: id,
      title: `New sign-in as ${email}`,
      text: `From ${address ?? 'an unknown address'}${agent === null ? '' : `, ${agent.slice(0, 200)}`}. If this was not you, end the session in the settings and change your password.`,
    }));
}

async function sumSince(
  database: Kysely<Tables>,
  accountId: string,
  sinceMs: number,
): Promise<{ cost: bigint; requests: bigint; errors: bigint }> {
  const sums = await database
    .selectFrom('usage_rollups')
    .select(({ fn }) => [
      fn.sum<bigint | null>('cost').as('cost'),
      fn.sum<bigint | null>('requests').as('requests'),
      fn.sum<bigint | null>('errors').as('errors'),
    ])
    .where('account_id', '=', accountId)
    .where('quarter_hour', '>=', BigInt(sinceMs))
    .executeTakeFirstOrThrow();
  return { cost: sums.cost ?? 0n, requests: sums.requests ?? 0n, errors: sums.errors ?? 0n };
}
