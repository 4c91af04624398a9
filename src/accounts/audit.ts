import type { Kysely, Transaction } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { makeId } from '../ids.ts';

/** What somebody did to something. */
export interface AuditEntry {
  /** A person's address, or the part of the program that did it by itself. */
  readonly actor: string;
  readonly action: string;
  /** The id of what was changed. */
  readonly subject: string;
  readonly changes: readonly FieldChange[];
}

/** One field, before and after; undefined is none. */
export interface FieldChange {
  readonly field: string;
  readonly before: AuditValue;
  readonly after: AuditValue;
}

export type AuditValue = string | number | boolean | readonly string[] | null | undefined;

/** An entry as it is read again. */
export interface RecordedEntry extends AuditEntry {
  readonly id: string;
  readonly createdAtMs: number;
}

/** Writes an entry in the transaction of what it tells about: there is no change without its entry. */
export async function recordAudit(transaction: Transaction<Tables>, { actor, action, subject, changes }: AuditEntry): Promise<void> {
  const createdAtMs = Date.now();
  await transaction
    .insertInto('audit')
    .values({ id: makeId('audit', createdAtMs), actor, action, subject, detail: JSON.stringify({ changes }), created_at: createdAtMs })
    .execute();
}

/** The latest entries about something, newest first. */
export async function readAudit(database: Kysely<Tables>, subject: string, limit: number): Promise<RecordedEntry[]> {
  const rows = await database
    .selectFrom('audit')
    .selectAll()
    .where('subject', '=', subject)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    actor: row.actor,
    action: row.action,
    subject: row.subject,
    changes: readChanges(row.detail),
    createdAtMs: Number(row.created_at),
  }));
}

/** The fields in which two states differ. */
export function differences(before: Readonly<Record<string, AuditValue>>, after: Readonly<Record<string, AuditValue>>): FieldChange[] {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return fields
    .filter((field) => JSON.stringify(before[field] ?? null) !== JSON.stringify(after[field] ?? null))
    .map((field) => ({ field, before: before[field] ?? null, after: after[field] ?? null }));
}

/** Entries of other kinds have details of their own. */
function readChanges(detail: string): readonly FieldChange[] {
  const { changes } = JSON.parse(detail) as { readonly changes?: readonly FieldChange[] };
  return changes ?? [];
}
