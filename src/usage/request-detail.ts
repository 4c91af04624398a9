import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { asNanos, type Nanos } from '../ledger/money.ts';
import { readBalanceAfter } from '../ledger/statement.ts';
import { explainCost, type CostEquation, type PriceItems } from './cost-equation.ts';
import { findRow, type RequestRow } from './requests.ts';

/** A provider that was asked, in the order of asking; the last one is who answered, where somebody did. */
export interface AttemptStep {
  readonly provider: string;
  readonly outcome: string;
  readonly durationMs: number;
}

/** The movement of money that paid for a request. */
export interface ChargeTransfer {
  readonly id: string;
  readonly amount: Nanos;
  readonly atMs: number;
  /** Of the account, right after it: the same as on the statement. */
  readonly balanceAfter: Nanos;
}

/** What was asked and answered, where the account has that recorded. */
export interface RecordedContent {
  readonly request: string;
  readonly answer: string;
  readonly isCut: boolean;
  readonly deleteAtMs: number;
}

/** Everything that is known about one request. */
export interface RequestDetail {
  readonly row: RequestRow;
  readonly attempts: readonly AttemptStep[];
  readonly equation: CostEquation;
  readonly transfer: ChargeTransfer | undefined;
  readonly content: RecordedContent | undefined;
}

/**
 * Reads one request of an account; undefined when the account has none of this id. Without an account it is read whoever's it is,
 * and then without its content, which nobody but its owner sees.
 */
export async function readRequest(
  database: Kysely<Tables>,
  accountId: string | undefined,
  requestId: string,
): Promise<RequestDetail | undefined> {
  const row = await findRow(database, accountId, requestId);
  if (row === undefined) return undefined;
  const failed = await database.selectFrom('attempts').selectAll().where('request_id', '=', requestId).orderBy('n').execute();
  return {
    row,
    attempts: [...failed.map(toStep), ...answering(row, failed.map(toStep))],
    equation: explainCost(row, await readPrices(database, row), failed.length),
    transfer: await readTransfer(database, row.account_id, requestId),
    content: accountId === undefined ? undefined : await readContent(database, accountId, requestId),
  };
}

function toStep(row: { readonly provider: string; readonly outcome: string; readonly duration_ms: bigint }): AttemptStep {
  return { provider: row.provider, outcome: row.outcome, durationMs: Number(row.duration_ms) };
}

/** Who answered is not among the attempts, which are those that failed. What is left of the time was theirs. */
function answering(row: RequestRow, failed: readonly AttemptStep[]): AttemptStep[] {
  if (row.provider === '') return [];
  const before = failed.reduce((sum, { durationMs }) => sum + durationMs, 0);
  return [{ provider: row.provider, outcome: row.outcome, durationMs: Math.max(0, Number(row.duration_ms) - before) }];
}

async function readTransfer(database: Kysely<Tables>, accountId: string, id: string): Promise<ChargeTransfer | undefined> {
  const row = await database.selectFrom('transfers').selectAll().where('id', '=', id).executeTakeFirst();
  if (row === undefined) return undefined;
  const atMs = Number(row.created_at);
  return { id, amount: asNanos(row.amount), atMs, balanceAfter: await readBalanceAfter(database, accountId, { id, atMs }) };
}

async function readPrices(database: Kysely<Tables>, { model, price_version: version }: RequestRow): Promise<PriceItems> {
  const rows = await database
    .selectFrom('prices')
    .select(['item', 'pico'])
    .where('model', '=', model)
    .where('version', '=', version)
    .execute();
  return new Map(rows.map(({ item, pico }) => [item, pico]));
}

async function readContent(database: Kysely<Tables>, accountId: string, requestId: string): Promise<RecordedContent | undefined> {
  const row = await database
    .selectFrom('request_contents')
    .selectAll()
    .where('request_id', '=', requestId)
    .where('account_id', '=', accountId)
    // What is to be deleted is not shown any more, even if it has not been deleted yet.
    .where('delete_at', '>', BigInt(Date.now()))
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return { request: row.request, answer: row.answer, isCut: row.is_cut === 1n, deleteAtMs: Number(row.delete_at) };
}
