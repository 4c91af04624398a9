import type { Pool } from 'pg';
import { retryConflicts } from '../database/in-transaction.ts';
import { openPostgres } from '../database/postgres.ts';
import type { LedgerStore, Operation, OperationResult } from './ledger.ts';
import { decodeResults, encodeOperations, type WireResult } from './wire.ts';

/** Shorter than callers wait, so that callers learn of a hanging database in time. */
const STATEMENT_MS = 4000;

/** Classes of errors that an operation causes by itself: what it says, or what the rows that it needs say. The last is our own. */
const REFUSAL_CODES = /^(?:22|23|54|P0001)/u;

/** Opens the ledger's store on PostgreSQL, shared by many nodes. Functions in the database do the work. */
export function openPostgresStore(url: string, nodeId: string): LedgerStore {
  const pool = openPostgres(url, { connectionsMax: 2, statementMs: STATEMENT_MS });
  return {
    get isAlive() {
      return !pool.ending;
    },
    apply: (operations) => apply(pool, nodeId, operations),
    isRefusal: (error) => REFUSAL_CODES.test((error as { code?: string }).code ?? ''),
    close: async () => (pool.ending ? undefined : pool.end()),
  };
}

async function apply(pool: Pool, nodeId: string, operations: readonly Operation[]): Promise<readonly OperationResult[]> {
  const text = encodeOperations(operations);
  const { rows } = await retryConflicts(() =>
    pool.query<{ results: readonly WireResult[] }>({
      name: 'ledger_apply',
      text: 'SELECT ledger_apply($1::JSONB, $2) AS results',
      values: [text, nodeId],
    }),
  );
  return decodeResults(rows[0]?.results ?? []);
}
