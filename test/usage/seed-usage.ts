import { sql, type Insertable, type Kysely } from 'kysely';
import type { OpenDatabase } from '../../src/database/connect.ts';
import type { Dialect } from '../../src/database/dialect.ts';
import type { Tables } from '../../src/database/tables.ts';
import { idAt } from '../../src/ids.ts';
import { costOf } from '../../src/ledger/price.ts';
import type { Picos } from '../../src/ledger/money.ts';
import { NO_TOKENS } from '../../src/tokens.ts';

/** Which account to invent requests for, how many, and over which time. */
export interface Seeding {
  readonly accountId: string;
  readonly rows: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly seed?: number;
}

export const SEEDED_KEYS: readonly string[] = Array.from({ length: 10 }, (_, index) => `key_seeded${index}`);
export const SEEDED_MODELS: readonly string[] = Array.from({ length: 12 }, (_, index) => `maker${index % 4}/model-${index}`);
export const SEEDED_PROVIDERS: readonly string[] = ['north', 'east', 'south', 'west'];

/** The end users of the requests. Every fourth request has none. */
export const SEEDED_USERS: readonly string[] = ['customer-1', 'Zoë, of Kraków', '=SUM(A1)'];

/** Some keys and models are used far more than others. */
const KEY_WEIGHTS = [30, 20, 15, 10, 8, 6, 5, 3, 2, 1];
const MODEL_WEIGHTS = [25, 18, 14, 10, 8, 7, 5, 4, 3, 3, 2, 1];
const ERROR_CODES = ['provider_unavailable', 'provider_rate_limited', 'provider_timeout'];
const FINISHES = ['stop', 'stop', 'stop', 'stop', 'length', 'tool_calls'];
const BATCH_ROWS = 5000;
const GRANT_NANOS = 10n ** 15n;

/**
 * Puts an account with many requests into an empty database, as the ledger would have left it: usage, roll-ups, transfers,
 * wallet and grant. Passes verification.
 */
export async function seedUsage({ kysely: database, dialect }: OpenDatabase, seeding: Seeding): Promise<void> {
  await addAccount(database, seeding);
  for (let from = 0; from < seeding.rows; from += BATCH_ROWS) await addRequests(database, seeding, { from, dialect });
  const { accountId } = seeding;
  await sql`INSERT INTO transfers (id, debit, credit, amount, kind, ref, created_at)
    SELECT request_id, ${`wallet:${accountId}`}, 'revenue', cost, 'usage', '', created_at + duration_ms FROM usage
    WHERE account_id = ${accountId} AND cost > 0`.execute(database);
  await sql`INSERT INTO usage_rollups SELECT account_id, key_id, model, provider, created_at - created_at % 900000, COUNT(*),
      SUM(CASE WHEN outcome = 'failed' THEN 1 ELSE 0 END), SUM(input_tokens), SUM(cached_input_tokens), SUM(cache_write_tokens),
      SUM(output_tokens), SUM(reasoning_tokens), SUM(cost), SUM(COALESCE(first_token_ms, 0)), COUNT(first_token_ms), SUM(duration_ms)
    FROM usage WHERE account_id = ${accountId} GROUP BY account_id, key_id, model, provider, created_at - created_at % 900000
    ORDER BY created_at - created_at % 900000`.execute(database);
  await sql`UPDATE wallets SET debits_posted = (SELECT COALESCE(SUM(cost), 0) FROM usage WHERE account_id = ${accountId})
    WHERE account_id = ${accountId}`.execute(database);
  await sql`UPDATE grants SET remaining = amount - (SELECT debits_posted FROM wallets WHERE wallets.account_id = ${accountId})
    WHERE account_id = ${accountId}`.execute(database);
}

/** Adds the account, its money and its keys. An existing account, such as one that signed up, is kept. */
async function addAccount(database: Kysely<Tables>, { accountId, fromMs }: Seeding): Promise<void> {
  const account = { id: accountId, email: `${accountId}@example.com`, status: 'active', is_admin: 0, created_at: fromMs } as const;
  const wallet = { account_id: accountId, credits_posted: 0, debits_posted: 0, debits_pending: 0 };
  await insertNew(database, 'accounts', [account]);
  await insertNew(database, 'wallets', [wallet]);
  await database.updateTable('wallets').set({ credits_posted: GRANT_NANOS }).where('account_id', '=', accountId).execute();
  const grant = { id: `grant:${accountId}`, account_id: accountId, kind: 'manual', amount: GRANT_NANOS, remaining: GRANT_NANOS } as const;
  await insertNew(database, 'grants', [{ ...grant, expires_at: null, source: `seed:${accountId}`, created_at: fromMs }]);
  const transfer = { id: `seed:${accountId}`, debit: 'promo_expense', credit: `wallet:${accountId}`, amount: GRANT_NANOS };
  await insertNew(database, 'transfers', [{ ...transfer, kind: 'manual', ref: 'seed', created_at: fromMs }]);
  const limits = { models: null, requests_per_minute: null, tokens_per_minute: null, concurrent: null, expires_at: null };
  const key = { ...limits, account_id: accountId, created_at: fromMs, deleted_at: null };
  await insertNew(
    database,
    'api_keys',
    SEEDED_KEYS.map((id, index) => ({ ...key, id, name: `Key ${index}` })),
  );
  await insertNew(database, 'prices', SEEDED_MODELS.flatMap(priceRows));
}

async function insertNew<Name extends keyof Tables>(
  database: Kysely<Tables>,
  table: Name,
  rows: readonly Insertable<Tables[Name]>[],
): Promise<void> {
  await database
    .insertInto(table)
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

function priceOf(model: number): { input: Picos; cachedInput: Picos; cacheWrite: Picos; output: Picos } {
  const input = BigInt(100_000 + model * 137_501) as Picos;
  return { input, cachedInput: (input / 10n) as Picos, cacheWrite: (input + input / 4n) as Picos, output: (input * 4n) as Picos };
}

function priceRows(model: string, index: number) {
  const { input, cachedInput, cacheWrite, output } = priceOf(index);
  const items = { input, cached_input: cachedInput, cache_write: cacheWrite, output };
  return Object.entries(items).map(([item, pico]) => ({ model, version: 1, item, pico, created_at: 0 }));
}

/** In the order that `makeRequest` returns them. */
const TEXTS = ['request_id', 'key_id', 'model', 'provider', 'outcome', 'finish_reason', 'error_code', 'served_model', 'end_user'];
const NUMBERS = [
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'cost',
  'held',
  'first_token_ms',
  'duration_ms',
  'attempts',
  'created_at',
  'is_streaming',
];

/** Inserts many rows in one statement, as one JSON text. The two databases differ only in the name of one function. */
async function addRequests(
  database: Kysely<Tables>,
  seeding: Seeding,
  { from, dialect }: { from: number; dialect: Dialect },
): Promise<void> {
  const random = randomFrom((seeding.seed ?? 1) + from);
  const count = Math.min(BATCH_ROWS, seeding.rows - from);
  const rows = Array.from({ length: count }, (_, index) => makeRequest(seeding, from + index, random));
  const json = JSON.stringify(rows);
  const source = dialect === 'sqlite' ? sql`json_each(${json})` : sql`jsonb_array_elements(${json}::JSONB)`;
  const texts = TEXTS.map((_, index) => sql`value ->> ${sql.lit(index)}`);
  const numbers = NUMBERS.map((_, index) => sql`CAST(value ->> ${sql.lit(TEXTS.length + index)} AS BIGINT)`);
  const columns = [...TEXTS, ...NUMBERS].map((name) => sql.ref(name));
  await sql`INSERT INTO usage (account_id, is_estimated, price_version, ${sql.join(columns)})
    SELECT ${sql.lit(seeding.accountId)}, 0, 1, ${sql.join([...texts, ...numbers])} FROM ${source}`.execute(database);
}

/** Times are spread evenly over the range. One in fifty requests fails; one in ten is answered by the second provider. */
function makeRequest({ fromMs, toMs, rows }: Seeding, index: number, random: () => number): (string | number | null)[] {
  const atMs = Math.floor(fromMs + ((toMs - fromMs) * (index + random())) / rows);
  const model = pick(MODEL_WEIGHTS, random());
  const isFailed = random() < 0.02;
  const isFallback = random() < 0.1;
  const provider = isFailed ? '' : (SEEDED_PROVIDERS[(model + (isFallback ? 1 : 0)) % SEEDED_PROVIDERS.length] ?? '');
  const inputTokens = 50 + Math.floor(random() * 4000);
  const outputTokens = 10 + Math.floor(random() * 900);
  const isStreaming = random() < 0.7;
  const counts = {
    inputTokens,
    cachedInputTokens: Math.floor(inputTokens / 3),
    cacheWriteTokens: 0,
    outputTokens,
    reasoningTokens: model % 3 === 0 ? outputTokens >> 1 : 0,
  };
  const usage = isFailed ? NO_TOKENS : counts;
  const cost = Number(costOf(priceOf(model), usage));
  const firstTokenMs = isFailed ? null : 120 + Math.floor(random() * 900);
  return [
    `${idAt('req', atMs)}${index.toString(16).padStart(20, '0')}`,
    SEEDED_KEYS[pick(KEY_WEIGHTS, random())] ?? '',
    SEEDED_MODELS[model] ?? '',
    provider,
    isFailed ? 'failed' : 'completed',
    isFailed ? null : (FINISHES[Math.floor(random() * FINISHES.length)] ?? 'stop'),
    isFailed ? (ERROR_CODES[Math.floor(random() * ERROR_CODES.length)] ?? null) : null,
    isFailed ? '' : `model-${model}-2026`,
    SEEDED_USERS[index % (SEEDED_USERS.length + 1)] ?? null,
    usage.inputTokens,
    usage.cachedInputTokens,
    usage.cacheWriteTokens,
    usage.outputTokens,
    usage.reasoningTokens,
    cost,
    cost * 2 + 1,
    firstTokenMs,
    (firstTokenMs ?? 300) + Math.floor(random() * 5000),
    1,
    atMs,
    isStreaming ? 1 : 0,
  ];
}

function pick(weights: readonly number[], share: number): number {
  let left = share * weights.reduce((sum, weight) => sum + weight, 0);
  for (const [index, weight] of weights.entries()) {
    left -= weight;
    if (left < 0) return index;
  }
  return weights.length - 1;
}

/** A small generator that returns the same numbers in every run. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
