import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { windowStartMs } from '../ledger/budget.ts';
import { findCrossings, type Crossing } from './crossings.ts';
import { addDeliveries } from './deliveries.ts';
import { AlertRules, type AlertRule } from './rules.ts';

/** Far longer than servers take to look at all rules, and than their clocks differ. */
const FRESH_MS = 10 * 60_000;

/**
 * Looks at every rule once. What is newly crossed fires; what is over is armed again. Several servers may look at the
 * same time: the row of the state decides which of them tells.
 */
export async function watchAlerts(database: Kysely<Tables>, nowMs: number, onFailure: (error: unknown) => void): Promise<void> {
  for await (const rule of new AlertRules(database).readAll()) {
    try {
      await watchRule(database, rule, nowMs);
    } catch (error) {
      // One account's trouble must not keep the others from being told.
      onFailure(error);
    }
  }
}

async function watchRule(database: Kysely<Tables>, rule: AlertRule, nowMs: number): Promise<void> {
  // In this order: what another server fires after the first reading is not taken for something that is over.
  const fired = new Set(await readFired(database, rule.id));
  const crossings = await findCrossings(database, rule, nowMs);
  for (const crossing of crossings) if (!fired.has(crossing.subject)) await fire(database, rule, crossing);
  const subjects = new Set(crossings.map(({ subject }) => subject));
  const over = isPeriodFresh(rule, nowMs) ? [] : [...fired].filter((subject) => !subjects.has(subject));
  if (over.length > 0) await database.deleteFrom('alert_states').where('rule_id', '=', rule.id).where('subject', 'in', over).execute();
}

/** When a day or month has just begun, another server may still look at the last one, and must find that it was told. */
function isPeriodFresh({ kind }: AlertRule, nowMs: number): boolean {
  return (kind === 'spend_day' || kind === 'spend_month') && nowMs - windowStartMs('day', nowMs) < FRESH_MS;
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
