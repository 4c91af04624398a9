import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { MINUTE_MS } from '../durations.ts';
import { yieldToOthers } from '../turns.ts';
import { findCrossings, type Crossing } from './crossings.ts';
import { addDeliveries } from './deliveries.ts';
import { AlertRules, type AlertRule } from './rules.ts';

/** Far longer than a server needs to check all rules, and than clocks differ. */
const APART_MS = 10 * MINUTE_MS;

/** Told of problems; the other alerts go on. */
type OnFailure = (error: unknown) => void;

/**
 * Checks every rule once. Newly crossed rules fire; rules that are no longer crossed are re-armed. Several servers may check at
 * the same time: the state row decides which of them sends the message.
 */
export async function watchAlerts(database: Kysely<Tables>, nowMs: number, onFailure: OnFailure): Promise<void> {
  for await (const rules of new AlertRules(database).readPages()) {
    await watchRules(database, rules, { nowMs, onFailure }).catch(onFailure);
    await yieldToOthers();
  }
}

/**
 * Fires an account's sign-in alerts at once, so that they go out even if the person signs out or deletes the alert before the next check.
 */
export async function fireSignInAlerts(database: Kysely<Tables>, accountId: string): Promise<void> {
  const rules = (await new AlertRules(database).list(accountId)).filter(({ kind }) => kind === 'sign_in');
  await watchRules(database, rules, { nowMs: Date.now(), onFailure: rethrow });
}

function rethrow(error: unknown): never {
  throw error;
}

interface Turn {
  readonly nowMs: number;
  readonly onFailure: OnFailure;
}

/** Reads the state of all these rules together, and goes into those that changed: of thousands, few do. */
async function watchRules(database: Kysely<Tables>, rules: readonly AlertRule[], { nowMs, onFailure }: Turn): Promise<void> {
  // Read the fired states first, so that what another server fires after this read is not mistaken for something that is over.
  const states = await readFired(database, rules);
  const crossings = await findCrossings(database, rules, nowMs);
  for (const rule of rules) {
    const fired = states.get(rule.id) ?? new Set();
    const crossed = crossings.get(rule.id) ?? [];
    if (fired.size === crossed.length && crossed.every(({ subject }) => fired.has(subject))) continue;
    // A problem with one account must not stop the alerts of the others.
    await update(database, rule, { fired, crossed, nowMs }).catch(onFailure);
    await yieldToOthers();
  }
}

interface Change {
  readonly fired: ReadonlySet<string>;
  readonly crossed: readonly Crossing[];
  readonly nowMs: number;
}

async function update(database: Kysely<Tables>, rule: AlertRule, { fired, crossed, nowMs }: Change): Promise<void> {
  for (const crossing of crossed) if (!fired.has(crossing.subject)) await fire(database, rule, crossing);
  const subjects = new Set(crossed.map(({ subject }) => subject));
  const over = await findOver(
    database,
    rule,
    [...fired].filter((subject) => !subjects.has(subject)),
    nowMs,
  );
  if (over.length > 0) await database.deleteFrom('alert_states').where('rule_id', '=', rule.id).where('subject', 'in', over).execute();
}

/**
 * Returns the subjects that are over on every server. Around the end of a period, a server whose clock is behind or ahead must still find
 * that the alert has fired.
 */
async function findOver(database: Kysely<Tables>, rule: AlertRule, ended: readonly string[], nowMs: number): Promise<readonly string[]> {
  let over = ended;
  for (const atMs of [nowMs - APART_MS, nowMs + APART_MS]) {
    if (over.length === 0) break;
    const crossings = (await findCrossings(database, [rule], atMs)).get(rule.id) ?? [];
    const crossed = new Set(crossings.map(({ subject }) => subject));
    over = over.filter((subject) => !crossed.has(subject));
  }
  return over;
}

/** Returns the subjects that have fired, by rule id. */
async function readFired(database: Kysely<Tables>, rules: readonly AlertRule[]): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  if (rules.length === 0) return new Map();
  const ids = rules.map(({ id }) => id);
  const rows = await database.selectFrom('alert_states').select(['rule_id', 'subject']).where('rule_id', 'in', ids).execute();
  const fired = new Map<string, Set<string>>();
  for (const { rule_id: id, subject } of rows) fired.set(id, (fired.get(id) ?? new Set()).add(subject));
  return fired;
}

async function fire(database: Kysely<Tables>, rule: AlertRule, crossing: Crossing): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    const { numInsertedOrUpdatedRows } = await transaction
      .insertInto('alert_states')
      .values({ rule_id: rule.id, subject: crossing.subject, fired_at: Date.now() })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    if (numInsertedOrUpdatedRows !== 1n) return;
    const { title, text, keyId } = crossing;
    const channels = [...(rule.byMail ? (['mail'] as const) : []), ...(rule.byWebhook ? (['webhook'] as const) : [])];
    await addDeliveries(transaction, { accountId: rule.accountId, kind: rule.kind, title, text, keyId }, channels);
  });
}
