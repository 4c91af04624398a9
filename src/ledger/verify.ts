import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely, RawBuilder } from 'kysely';
import { partsOf } from '../database/parts-of.ts';
import type { Tables } from '../database/tables.ts';
import { formatUsd, asNanos } from './money.ts';
import type { Difference } from './check.ts';
import { CHECKS } from './checks.ts';

/** The result of one rule: how far apart two values are that must be equal, and where. */
export interface CheckResult {
  readonly name: string;
  readonly ok: boolean;
  /** USD when the rule is about money, otherwise a number of rows. "0" when the rule holds. */
  readonly difference: string;
  /** The first places that differ. */
  readonly places: readonly string[];
}

/** What to verify. */
export interface VerifyOptions {
  /** Only these accounts. Undefined checks everything, including rows that belong to no account. */
  readonly accountIds?: readonly string[] | undefined;
  /** Rules about single requests look only at those that began since then: an account's history has no end. Undefined checks all. */
  readonly sinceMs?: number | undefined;
  /** No request takes longer, so an older hold was forgotten. */
  readonly longestRequestMs: number;
  /** Called before each rule, to show progress. */
  readonly onProgress?: (name: string) => void;
}

/** How many places of a difference are named. */
export const PLACES_MAX = 10;
/** How long an edit takes to reach at least one more account, and how often to wait for that. */
const ALIGNMENT_MS = 2000;
const ALIGNMENT_TURNS_MAX = 10;

/**
 * Recomputes everything the ledger stores in two ways. Each rule reads one snapshot of the database, and no longer than it needs to: as long
 * as PostgreSQL keeps a snapshot it keeps every version of a wallet, and each request reads them all. SQLite's log grows meanwhile.
 */
export async function verifyLedger(database: Kysely<Tables>, options: VerifyOptions): Promise<CheckResult[]> {
  const { accountIds, sinceMs, longestRequestMs, onProgress } = options;
  // In parts, because a statement takes only so many parameters, and a busy service charges tens of thousands of accounts in five minutes.
  const parts = accountIds === undefined ? [undefined] : [...partsOf(accountIds)];
  const results: CheckResult[] = [];
  for (const check of CHECKS) {
    if (accountIds !== undefined && !check.isPerAccount) continue;
    onProgress?.(check.name);
    const run = async (): Promise<Difference[]> => {
      const found: (readonly Difference[])[] = [];
      for (const part of parts)
        found.push(await findDifferences(database, check.statement({ accountIds: part, sinceMs, nowMs: Date.now(), longestRequestMs })));
      return found.flat();
    };
    results.push(toResult(check, check.isAligned === true ? await waitForAlignment(run) : await run()));
  }
  return results;
}

/** Runs a rule again for as long as it finds fewer places each time: an edit is reaching them. */
async function waitForAlignment(run: () => Promise<Difference[]>): Promise<Difference[]> {
  let found = await run();
  for (let turns = 0; found.length > 0 && turns < ALIGNMENT_TURNS_MAX; turns += 1) {
    await sleep(ALIGNMENT_MS);
    const later = await run();
    if (later.length >= found.length) return later;
    found = later;
  }
  // Those that are left will have been reached by the next verification.
  return [];
}

/** A number that is too large to compute with is a difference by itself. It must not keep the other rules from being checked. */
async function findDifferences(database: Kysely<Tables>, statement: RawBuilder<Difference>): Promise<readonly Difference[]> {
  try {
    return (await statement.execute(database)).rows;
  } catch (error) {
    if (!isOutOfRange(error)) throw error;
    return [{ place: 'a number that is too large to add up', difference: 1 }];
  }
}

/** True for the error of PostgreSQL, or of SQLite, about a result that no 64-bit integer can hold. */
function isOutOfRange(error: unknown): boolean {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  return code === '22003' || message === 'integer overflow';
}

function toResult({ name, unit }: (typeof CHECKS)[number], rows: readonly Difference[]): CheckResult {
  const total = rows.reduce((sum, row) => sum + magnitude(BigInt(row.difference)), 0n);
  return {
    name,
    ok: rows.length === 0,
    difference: unit === 'usd' ? formatUsd(asNanos(total)) : String(total),
    places: rows.slice(0, PLACES_MAX).map((row) => row.place),
  };
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}
