import { sql, type Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { asNanos, roundUpToNanos, type Nanos, type Picos } from '../ledger/money.ts';
import type { ModelPrice, TokenPrices } from '../ledger/price.ts';

/** What all accounts together used of a model. */
export interface ModelSums {
  readonly requests: bigint;
  readonly inputTokens: bigint;
  readonly cachedInputTokens: bigint;
  readonly cacheWriteTokens: bigint;
  readonly outputTokens: bigint;
  readonly cost: Nanos;
}

/**
 * Sums usage by model from a moment on. Goes account by account, because roll-ups are ordered by time per account: older ones are never
 * read.
 */
export async function readModelSums(database: Kysely<Tables>, fromMs: number): Promise<ReadonlyMap<string, ModelSums>> {
  const { rows } = await sql<SumRow>`SELECT model, ${SUMS} FROM accounts CROSS JOIN usage_rollups
    WHERE usage_rollups.account_id = accounts.id AND quarter_hour >= ${fromMs} GROUP BY model`.execute(database);
  return new Map(rows.map((row) => [row.model, toSums(row)]));
}

const SUMMED = ['requests', 'input_tokens', 'cached_input_tokens', 'cache_write_tokens', 'output_tokens', 'cost'] as const;
const SUMS = sql.join(SUMMED.map((name) => sql`CAST(SUM(${sql.ref(name)}) AS BIGINT) AS ${sql.ref(name)}`));
type SumRow = Readonly<Record<(typeof SUMMED)[number], bigint>> & { readonly model: string };

function toSums(row: SumRow): ModelSums {
  return {
    requests: row.requests,
    inputTokens: row.input_tokens,
    cachedInputTokens: row.cached_input_tokens,
    cacheWriteTokens: row.cache_write_tokens,
    outputTokens: row.output_tokens,
    cost: asNanos(row.cost),
  };
}

/**
 * Returns what such token sums cost at these prices. The sums do not show which requests had long prompts. Where those have their
 * own prices, the true cost lies between the two results.
 */
export function costOfSums(sums: ModelSums, price: ModelPrice): { readonly low: Nanos; readonly high: Nanos } {
  const base = costAt(sums, price);
  const long = price.long === undefined ? base : costAt(sums, price.long);
  return base < long ? { low: base, high: long } : { low: long, high: base };
}

function costAt(sums: ModelSums, { input, cachedInput, cacheWrite, output }: TokenPrices): Nanos {
  const picos =
    sums.inputTokens * input + sums.cachedInputTokens * cachedInput + sums.cacheWriteTokens * cacheWrite + sums.outputTokens * output;
  return roundUpToNanos(picos as Picos);
}
