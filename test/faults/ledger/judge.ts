import { expect } from 'bun:test';
import type { Kysely, Selectable } from 'kysely';
import type { Tables } from '../../../src/database/tables.ts';
import { idAt } from '../../../src/ids.ts';
import { costNanos } from '../../simulator/invoice.ts';
import type { ReceivedRequest } from '../../simulator/openai.ts';
import { countUsage, type Usage } from '../../simulator/wire.ts';
import { isFinished } from './ask.ts';
import { charactersSent, type Sent } from './load.ts';

export type UsageRow = Selectable<Tables['usage']>;

/** The ledger's rows for a time span: usage by request, and the transfers that paid for it. */
export interface Books {
  readonly usage: ReadonlyMap<string, UsageRow>;
  readonly transfers: ReadonlyMap<string, bigint>;
}

/** Reads the rows of all requests since a moment. Ids grow with time, so this reads only new rows. */
export async function readBooks(database: Kysely<Tables>, sinceMs: number): Promise<Books> {
  const since = idAt('req', sinceMs);
  const usage = await database.selectFrom('usage').selectAll().where('request_id', '>=', since).execute();
  const transfers = await database.selectFrom('transfers').selectAll().where('kind', '=', 'usage').where('id', '>=', since).execute();
  return {
    usage: new Map(usage.map((row) => [row.request_id, row])),
    transfers: new Map(transfers.map((row) => [row.id, row.amount])),
  };
}

/** How requests ended, counted. */
export interface Tally {
  finished: number;
  refused: number;
  recovered: number;
  recoveredCharged: number;
  settledUnseen: number;
  withoutRow: number;
  costNanos: bigint;
}

export function emptyTally(): Tally {
  return { finished: 0, refused: 0, recovered: 0, recoveredCharged: 0, settledUnseen: 0, withoutRow: 0, costNanos: 0n };
}

/**
 * Compares the ledger with what callers saw and what the provider sent, by the table of outcomes: an answer seen to end is
 * charged once, exactly as reported; a request cut off by a crash is charged at most its progress; the rest costs nothing.
 */
export function judge(sent: readonly Sent[], books: Books, invoice: ReadonlyMap<string, ReceivedRequest>): Tally {
  const tally = emptyTally();
  const unmatched = new Map(books.usage);
  for (const request of sent) {
    const row = books.usage.get(request.requestId ?? '');
    if (row === undefined) continue;
    unmatched.delete(row.request_id);
    expect(row.key_id).toBe(request.key.id);
  }
  for (const request of sent) {
    const row = books.usage.get(request.requestId ?? '') ?? takeUnmatched(request, unmatched);
    judgeOne({ request, row, call: invoice.get(request.message) }, tally);
  }
  // Every row belongs to a request that was sent.
  expect([...unmatched.keys()]).toEqual([]);
  judgeTransfers(books);
  for (const { cost } of books.usage.values()) tally.costNanos += cost;
  return tally;
}

/** Finds the row of a caller that was cut off before the headers and does not know its id. Its key has no other request without one. */
function takeUnmatched(request: Sent, unmatched: Map<string, UsageRow>): UsageRow | undefined {
  if (request.requestId !== undefined) return undefined;
  const row = [...unmatched.values()].find((candidate) => candidate.key_id === request.key.id);
  if (row !== undefined) unmatched.delete(row.request_id);
  return row;
}

interface Case {
  readonly request: Sent;
  readonly row: UsageRow | undefined;
  readonly call: ReceivedRequest | undefined;
}

function judgeOne({ request, row, call }: Case, tally: Tally): void {
  const facts = (): string => JSON.stringify({ request, row, call }, (_, value) => (typeof value === 'bigint' ? String(value) : value));
  const claim = (isTrue: boolean, what: string): void => {
    if (!isTrue) throw new Error(`${what}: ${facts()}`);
  };
  if (row !== undefined) claim(row.cost <= row.held, 'charged above its hold');
  if (isFinished(request)) {
    tally.finished += 1;
    claim(row?.outcome === 'completed', 'an answer that was seen to end has no completed row');
    claim(call?.finishedAt !== undefined, 'an answer ended that the provider did not end');
    claim(isExact(row, call), 'an answer that was seen to end is not charged as reported');
  } else if (request.status !== undefined && request.status !== 200) {
    tally.refused += 1;
    claim(row === undefined || (row.outcome === 'failed' && row.cost === 0n), 'a refused request was charged');
  } else if (row === undefined) {
    tally.withoutRow += 1;
    claim(request.requestId === undefined, 'an admitted request left no row');
  } else if (row.outcome === 'recovered') {
    tally.recovered += 1;
    tally.recoveredCharged += row.cost > 0n ? 1 : 0;
    claim(row.cost <= progressMax(request, call), 'recovered above the recorded progress');
    claim(row.is_estimated === (row.cost > 0n ? 1n : 0n), 'recovered progress is an estimate');
  } else if (row.outcome === 'completed') {
    tally.settledUnseen += 1;
    claim(isExact(row, call), 'a charge that was settled just before the end is not as reported');
  } else {
    claim(row.outcome === 'failed' && row.cost === 0n, 'an unknown end');
    tally.refused += 1;
  }
}

/** Returns whether counts and cost match the provider's report. */
function isExact(row: UsageRow | undefined, call: ReceivedRequest | undefined): boolean {
  if (row === undefined || call === undefined) return false;
  const usage = call.usage as Usage;
  return (
    row.cost === costNanos(usage) &&
    row.input_tokens === BigInt(usage.prompt_tokens) &&
    row.output_tokens === BigInt(usage.completion_tokens) &&
    row.is_estimated === 0n
  );
}

/** Returns the largest possible progress. It is estimated at four characters per token; only streams have any. */
function progressMax(request: Sent, call: ReceivedRequest | undefined): bigint {
  if (call === undefined || !request.isStreaming) return 0n;
  return costNanos(countUsage({ prompt: tokensOf(request.bodyBytes), cached: 0, completion: tokensOf(charactersSent(call)) }));
}

function tokensOf(characters: number): number {
  return Math.ceil(characters / 4);
}

/** Expects exactly one transfer per charge, with its amount, and none for free requests. */
function judgeTransfers({ usage, transfers }: Books): void {
  const charged = [...usage.values()].filter((row) => row.cost > 0n);
  expect(new Map(transfers)).toEqual(new Map(charged.map((row) => [row.request_id, row.cost])));
}
