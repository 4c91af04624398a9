import type { Kysely, Selectable } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { asNanos, type Nanos } from '../ledger/money.ts';
import { readBalanceAfter } from '../ledger/statement.ts';
import { explainCost, type CostEquation, type PriceItems } from './cost-equation.ts';
import { readRefusals, type RefusalRow } from './refusals.ts';
import { findRow, type RequestRow } from './requests.ts';

/** A provider that was called. Steps are in order of the calls; the last one is the provider that answered, if any did. */
export interface AttemptStep {
  readonly provider: string;
  readonly outcome: string;
  readonly durationMs: number;
}

/** The transfer that paid for a request. */
export interface ChargeTransfer {
  readonly id: string;
  readonly accountId: string;
  readonly amount: Nanos;
  readonly atMs: number;
  /** The account's balance right after it, as on the statement. */
  readonly balanceAfter: Nanos;
}

/** The prompt and answer, if the account records them. */
export interface RecordedContent {
  readonly request: string;
  readonly answer: string;
  readonly isCut: boolean;
  readonly deleteAtMs: number;
}

/** Everything known about one request. */
export interface RequestDetail {
  readonly row: RequestRow;
  readonly attempts: readonly AttemptStep[];
  readonly equation: CostEquation;
  readonly transfer: ChargeTransfer | undefined;
  readonly content: RecordedContent | undefined;
}

/** What became of a request. */
export type FoundRequest =
  /** Its money is still held: it is running, or its process died and recovery has not settled it yet. */
  | { readonly state: 'running'; readonly row: Selectable<Tables['holds']> }
  | { readonly state: 'settled'; readonly row: RequestRow; readonly detail: RequestDetail }
  | { readonly state: 'refused'; readonly row: RefusalRow }
  /** Its usage row is older than the retention time; the ledger keeps the charge. */
  | { readonly state: 'deleted'; readonly row: { readonly account_id: string }; readonly transfer: ChargeTransfer };

/** Finds anyone's request, whatever became of it. Prompt and answer are left out: only the owner may see them. */
export async function findRequest(database: Kysely<Tables>, requestId: string): Promise<FoundRequest | undefined> {
  // A hold becomes a usage row in one transaction, so in this order no request is missed.
  const hold = await database.selectFrom('holds').selectAll().where('id', '=', requestId).executeTakeFirst();
  if (hold !== undefined) return { state: 'running', row: hold };
  const detail = await readRequestDetail(database, undefined, requestId);
  if (detail !== undefined) return { state: 'settled', row: detail.row, detail };
  const [refusal] = (await readRefusals({ kysely: database }, { accountId: undefined, requestId, rowsMax: 1 })).rows;
  if (refusal !== undefined) return { state: 'refused', row: refusal };
  const transfer = await readTransfer(database, requestId);
  return transfer === undefined ? undefined : { state: 'deleted', row: { account_id: transfer.accountId }, transfer };
}

/**
 * Reads one request of an account; undefined when the account has none with this id. Without an account it reads anyone's request, but
 * without its contents, which only the owner may see.
 */
export async function readRequestDetail(
  database: Kysely<Tables>,
  accountId: string | undefined,
  requestId: string,
): Promise<RequestDetail | undefined> {
  const row = await findRow(database, accountId, requestId);
  if (row === undefined) return undefined;
  const rows = await database.selectFrom('attempts').selectAll().where('request_id', '=', requestId).orderBy('n').execute();
  const failed = rows.map(({ provider, outcome, duration_ms: ms }) => ({ provider, outcome, durationMs: Number(ms) }));
  return {
    row,
    attempts: [...failed, ...answerStep(row, failed)],
    equation: explainCost(row, await readPrices(database, row), failed.length),
    transfer: await readTransfer(database, requestId),
    content: accountId === undefined ? undefined : await readContent(database, accountId, requestId),
  };
}

/** Returns the step of the provider that answered. Attempts contain only failures, so the remaining time belongs to the answer. */
function answerStep(row: RequestRow, failed: readonly AttemptStep[]): AttemptStep[] {
  if (row.provider === '') return [];
  const before = failed.reduce((sum, { durationMs }) => sum + durationMs, 0);
  return [{ provider: row.provider, outcome: row.outcome, durationMs: Math.max(0, Number(row.duration_ms) - before) }];
}

async function readTransfer(database: Kysely<Tables>, id: string): Promise<ChargeTransfer | undefined> {
  const row = await database.selectFrom('transfers').selectAll().where('id', '=', id).executeTakeFirst();
  if (row === undefined) return undefined;
  const atMs = Number(row.created_at);
  const accountId = row.debit.replace(/^wallet:/u, '');
  return { id, accountId, amount: asNanos(row.amount), atMs, balanceAfter: await readBalanceAfter(database, accountId, { id, atMs }) };
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
    // Expired contents are not shown, even if they have not been deleted yet.
    .where('delete_at', '>', BigInt(Date.now()))
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return { request: row.request, answer: row.answer, isCut: row.is_cut === 1n, deleteAtMs: Number(row.delete_at) };
}
