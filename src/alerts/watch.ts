import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { MINUTE_MS } from '../durations.ts';
import { yieldToOthers } from '../turns.ts';
import { findCrossings, type Crossing } from './crossings.ts';
import { addDeliveries } from './deliveries.ts';
import { AlertRules, type AlertRule } from './rules.ts';

/** Far longer than a server needs to check all rules, and than clocks differ. */
const APART_MS = 10 * MINUTE_MS;

/**
 * Checks every rule once. Newly crossed rules fire; rules that are no longer crossed are re-armed. Several servers may check at
 * the same time: the state row decides which of them sends the message.
 */
export async function watchAlerts(database: Kysely<Tables>, nowMs: number, onFailure: (error: unknown) => void): Promise<void> {
  for await (const rule of new AlertRules(database).readAll()) {
    try {
      await watchRule(database, rule, nowMs);
    } catch (error) {
      // A problem with one account must not stop the alerts of the others.
      onFailure(error);
    }
    await yieldToOthers();
  }
}

/**
 * Fires an account's sign-in alerts at once, so that they go out even if the person signs out or deletes the alert before the next check.
 */
export async function fireSignInAlerts(database: Kysely<Tables>, accountId: string): Promise<void> {
  const rules = await new AlertRules(database).list(accountId);
  for (const rule of rules) if (rule.kind === 'sign_in') await watchRule(database, rule, Date.now());
}

async function watchRule(database: Kysely<Tables>, rule: AlertRule, nowMs: number): Promise<void> {
  // Read the fired states first, so that what another server fires after this read is not mistaken for something that is over.
  const fired = new Set(await readFired(database, rule.id));
  const crossings = await findCrossings(database, rule, nowMs);
  for (const crossing of crossings) if (!fired.has(crossing.subject)) await fire(database, rule, crossing);
  const subjects = new Set(crossings.map(({ subject }) => subject));
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
    const crossed = new Set((await findCrossings(database, rule, atMs)).map(({ subject }) => subject));
    over = over.filter((subject) => !crossed.has(subject));
  }
  return over;
}

async function readFired(database: Kysely<Tables>, ruleId: string): Promise<string[]> {
  const rows = await database.selectFrom('alert_states').select('subject').where('rule_id', '=', ruleId).execute();
  return rows.map(({ subject }) => subject);
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
