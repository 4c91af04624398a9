import { Hono } from 'hono';
import { z } from 'zod';
import { AuditLog, type NamedEntry } from '../../../accounts/audit-log.ts';
import type { RecordedEntry } from '../../../accounts/audit.ts';
import { lineOfText } from '../../../accounts/line-of-text.ts';
import type { Env, Dependencies } from '../../dependencies.ts';
import { PAGE_ROWS, placeShape, validate } from '../../validate.ts';

const TEXT_CHARS_MAX = 200;

const text = lineOfText.max(TEXT_CHARS_MAX).optional();
const query = z.object({
  action: text,
  /** Who made the change. */
  actor: text,
  /** What was changed: any id, or the email address of an account. */
  subject: text,
  before: placeShape,
});

/** The audit log of all accounts. */
export function adminAuditRoutes({ database: { kysely } }: Dependencies) {
  const log = new AuditLog(kysely);
  return new Hono<Env>().get('/', validate('query', query), async (c) => {
    const { before, ...filter } = c.req.valid('query');
    const { rows, next } = await log.read(filter, { before, rowsMax: PAGE_ROWS });
    return c.json({ entries: rows.map(describeEntry), actions: await log.actions(), next: next ?? null });
  });
}

/** Describes an entry for the browser. Its subject has a name where one was looked up. */
export function describeEntry({ id, actor, action, subject, name, changes, createdAtMs }: RecordedEntry & Partial<NamedEntry>) {
  return {
    id,
    actor,
    action,
    subject,
    name: name ?? null,
    changes: changes.map(({ field, before, after }) => ({ field, before: before ?? null, after: after ?? null })),
    createdAtMs,
  };
}
