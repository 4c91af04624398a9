import { Database } from 'bun:sqlite';
import { join } from 'node:path';

/** What the ledger recorded about one request. */
export interface UsageRow {
  readonly model: string;
  readonly provider: string;
  readonly input_tokens: bigint;
  readonly cached_input_tokens: bigint;
  readonly cache_write_tokens: bigint;
  readonly output_tokens: bigint;
  readonly reasoning_tokens: bigint;
  readonly is_estimated: bigint;
  readonly cost: bigint;
  readonly outcome: string;
}

/** Reads the rows of a running server's embedded database. */
export class UsageRows {
  readonly #database: Database;

  constructor(dataFolder: string) {
    this.#database = new Database(join(dataFolder, 'tollgate.db'), { readonly: true, safeIntegers: true });
  }

  find(requestId: string): UsageRow | undefined {
    return this.#database.query<UsageRow, string>('SELECT * FROM usage WHERE request_id = ?').get(requestId) ?? undefined;
  }

  close(): void {
    this.#database.close();
  }
}
