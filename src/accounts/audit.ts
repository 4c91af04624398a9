import type { Kysely, Selectable, Transaction } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { makeId } from '../ids.ts';
import { asNanos, formatUsd } from '../ledger/money.ts';

/** Who makes changes on the command line. */
export const COMMAND_LINE = 'command line';

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

/** Writes an entry about what changes nothing here by itself, such as a test or a question. */
export async function recordDeed(database: Kysely<Tables>, entry: AuditEntry): Promise<void> {
  await database.transaction().execute((transaction) => recordAudit(transaction, entry));
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
  return rows.map(toEntry);
}

/** An entry as its row has it. */
export function toEntry({ id, actor, action, subject, detail, created_at }: Selectable<Tables['audit']>): RecordedEntry {
  return { id, actor, action, subject, changes: readChanges(detail), createdAtMs: Number(created_at) };
}

/** The fields in which two states differ. */
export function differences(before: Readonly<Record<string, AuditValue>>, after: Readonly<Record<string, AuditValue>>): FieldChange[] {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return fields
    .filter((field) => JSON.stringify(before[field] ?? null) !== JSON.stringify(after[field] ?? null))
    .map((field) => ({ field, before: before[field] ?? null, after: after[field] ?? null }));
}

/** Credit that was given by hand has an amount and a reason in place of changes. */
function readChanges(detail: string): readonly FieldChange[] {
  const { changes, nanos, reason } = JSON.parse(detail) as { changes?: readonly FieldChange[]; nanos?: string; reason?: string };
  if (nanos === undefined) return changes ?? [];
  return [
    { field: 'usd', before: null, after: formatUsd(asNanos(BigInt(nanos))) },
    { field: 'reason', before: null, after: reason },
  ];
}
