import type { Kysely } from 'kysely';
import { Keys } from '../../accounts/keys.ts';
import type { Tables } from '../../database/tables.ts';
import { asNanos, formatUsd } from '../../ledger/money.ts';
import { readStatement, type StatementCursor, type StatementLine } from '../../ledger/statement.ts';
import { readContentDays } from '../../usage/contents.ts';
import type { Person } from '../dependencies.ts';
import { exportAccountData } from './belongings.ts';
import { deviceOf } from './device.ts';
import { readSignInMethods } from './sign-in-methods.ts';

const PAGE_LINES = 1000;
/** A longer statement is exported without its oldest lines. The statement's own export has all of them. */
const LINES_MAX = 50_000;

/** Exports everything that is stored about a person, without secrets. Usage is exported as sums: single requests have their own export. */
export async function exportPerson(database: Kysely<Tables>, { userId, accountId }: Person): Promise<Readonly<Record<string, unknown>>> {
  const profile = await database
    .selectFrom('people')
    .select(['id', 'name', 'email', 'zone', 'number_format'])
    .where('id', '=', userId)
    .executeTakeFirstOrThrow();
  const sessions = await database.selectFrom('sessions').selectAll().where('person_id', '=', userId).execute();
  const passkeys = await database.selectFrom('passkeys').select(['name', 'created_at']).where('person_id', '=', userId).execute();
  const { linked } = await readSignInMethods(database, userId);
  const keys = await new Keys(database).list(accountId);
  return {
    exported_at: new Date().toISOString(),
    profile: { ...profile, content_days: (await readContentDays(database, accountId)) ?? null },
    sessions: sessions.map((session) => ({
      device: deviceOf(session.user_agent),
      user_agent: session.user_agent,
      address: session.address,
      signed_in_at: toIso(session.created_at),
      last_seen_at: toIso(session.updated_at),
    })),
    passkeys: passkeys.map(({ name, created_at }) => ({ name, created_at: created_at === null ? null : toIso(created_at) })),
    linked_accounts: linked.map(({ provider, createdAt }) => ({ provider, created_at: createdAt })),
    account: { id: accountId },
    keys: keys.map(({ id, name, createdAtMs, models, secrets }) => ({
      id,
      name,
      models: models ?? null,
      created_at: toIso(createdAtMs),
      secrets: secrets.map(({ prefix, lastFour }) => `${prefix}…${lastFour}`),
    })),
    statement: (await readWholeStatement(database, accountId)).map(({ id, atMs, kind, reason, amount, balance }) => ({
      id,
      at: toIso(atMs),
      kind,
      reason,
      usd: formatUsd(amount),
      balance_usd: formatUsd(balance),
    })),
    usage: await sumUsage(database, accountId),
    ...(await exportAccountData(database, { accountId, email: profile.email })),
  };
}

async function readWholeStatement(database: Kysely<Tables>, accountId: string): Promise<StatementLine[]> {
  const lines: StatementLine[] = [];
  let after: StatementCursor | undefined;
  do {
    const page = await readStatement(database, accountId, { linesMax: PAGE_LINES, after });
    lines.push(...page.lines);
    after = page.next;
  } while (after !== undefined && lines.length < LINES_MAX);
  return lines;
}

async function sumUsage(database: Kysely<Tables>, accountId: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const rows = await database
    .selectFrom('usage_rollups')
    .select(({ fn }) => [
      'model',
      fn.sum<bigint>('requests').as('requests'),
      fn.sum<bigint>('input_tokens').as('input_tokens'),
      fn.sum<bigint>('output_tokens').as('output_tokens'),
      fn.sum<bigint>('cost').as('cost'),
    ])
    .where('account_id', '=', accountId)
    .groupBy('model')
    .orderBy('model')
    .execute();
  return rows.map(({ model, requests, input_tokens, output_tokens, cost }) => ({
    model,
    requests: Number(requests),
    input_tokens: Number(input_tokens),
    output_tokens: Number(output_tokens),
    usd: formatUsd(asNanos(cost)),
  }));
}

function toIso(time: string | Date | number): string {
  return new Date(time).toISOString();
}
