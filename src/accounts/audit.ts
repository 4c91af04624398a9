import type { Kysely, Selectable, Transaction } from 'kysely';
import { partsOf } from '../database/parts-of.ts';
import type { Tables } from '../database/tables.ts';
import { makeId } from '../ids.ts';
import { asNanos, formatUsd } from '../ledger/money.ts';

/** The actor of changes made on the command line. */
export const COMMAND_LINE = 'command line';
/** The actor of changes made by a person whose account was closed since. */
export const DELETED_USER = 'deleted user';

/** One action in the audit log. */
export interface AuditEntry {
  /** A person's address, or the part of the program that acted by itself. */
  readonly actor: string;
  readonly action: string;
  /** Id of the changed object. */
  readonly subject: string;
  readonly changes: readonly FieldChange[];
}

/** One field before and after; undefined means no value. */
export interface FieldChange {
  readonly field: string;
  readonly before: AuditValue;
  readonly after: AuditValue;
}

/** A value of an audited field. */
export type AuditValue = string | number | boolean | readonly string[] | null | undefined;

/** An entry as read from the audit log. */
export interface RecordedEntry extends AuditEntry {
  readonly id: string;
  readonly createdAtMs: number;
}

/** Writes an entry in the same transaction as the change, so that no change goes unrecorded. */
export async function recordAudit(transaction: Transaction<Tables>, entry: AuditEntry): Promise<void> {
  await recordAudits(transaction, [entry]);
}

/** Writes several entries in the same transaction as their changes. */
export async function recordAudits(transaction: Transaction<Tables>, entries: readonly AuditEntry[]): Promise<void> {
  const createdAtMs = Date.now();
  const rows = entries.map(({ actor, action, subject, changes }) => {
    return { id: makeId('audit', createdAtMs), actor, action, subject, detail: JSON.stringify({ changes }), created_at: createdAtMs };
  });
  for (const part of partsOf(rows)) await transaction.insertInto('audit').values(part).execute();
}

/** Writes an entry about an action that changes no data, such as a test. */
export async function recordAction(database: Kysely<Tables>, entry: AuditEntry): Promise<void> {
  await database.transaction().execute((transaction) => recordAudit(transaction, entry));
}

/** Returns the latest entries about a subject, newest first. */
export async function readAudit(database: Kysely<Tables>, subject: string, limit: number): Promise<RecordedEntry[]> {
  const rows = await database
    .selectFrom('audit')
    .selectAll()
    .where('subject', '=', subject)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(toEntry);
}

/** Converts a row to an entry. */
export function toEntry({ id, actor, action, subject, detail, created_at }: Selectable<Tables['audit']>): RecordedEntry {
  return { id, actor, action, subject, changes: readChanges(detail), createdAtMs: Number(created_at) };
}

/** Returns the fields in which two states differ. */
export function differences(before: Readonly<Record<string, AuditValue>>, after: Readonly<Record<string, AuditValue>>): FieldChange[] {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return fields
    .filter((field) => JSON.stringify(before[field] ?? null) !== JSON.stringify(after[field] ?? null))
    .map((field) => ({ field, before: before[field] ?? null, after: after[field] ?? null }));
}

/** Reads the changes of an entry. A manual credit has an amount and a reason instead of changes. */
function readChanges(detail: string): readonly FieldChange[] {
  const { changes, nanos, reason } = JSON.parse(detail) as { changes?: readonly FieldChange[]; nanos?: string; reason?: string };
  if (nanos === undefined) return changes ?? [];
  return [
    { field: 'usd', before: null, after: formatUsd(asNanos(BigInt(nanos))) },
    { field: 'reason', before: null, after: reason },
  ];
}
