import type { Database } from 'bun:sqlite';
import type { Selectable } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { QUARTER_HOUR_MS } from '../durations.ts';
import { Budget, type BudgetRow } from './budget.ts';
import { KeptRows } from './kept-rows.ts';
import type { Settlement } from './ledger.ts';
import { least } from './money.ts';

/** How many grants are read at once. Most accounts have fewer; of thousands, a charge needs only the first. */
const GRANTS_READ = 16;

/** An account's sums and what limits them. */
interface Wallet {
  creditsPosted: bigint;
  debitsPosted: bigint;
  debitsPending: bigint;
  /** The remaining credit in drawing order; undefined until a charge draws on it. */
  grants: Grant[] | undefined;
  /** Set when the account may only spend its plan's credit: when that credit renews. */
  readonly planResetsAtMs: number | undefined;
}

type GrantRow = Pick<Selectable<Tables['grants']>, 'id' | 'kind' | 'account_id' | 'remaining'>;

interface Grant {
  readonly id: string;
  readonly kind: string;
  remaining: bigint;
  isDrawn: boolean;
}

/** How much of a cost plans and promotions paid. The rest came from paid-in credit. */
export interface CreditParts {
  plan: bigint;
  promo: bigint;
}

/**
 * The rows that many operations touch. Each is changed here, and written once per transaction. Otherwise a busy account's wallet would be
 * written once per request in the batch. Wallets with their grants, and budgets, are kept for the next transaction until somebody else
 * writes to the database. Nothing else may write through this connection.
 */
export class SqliteBooks {
  readonly #statements: ReturnType<typeof prepareStatements>;
  readonly #wallets: KeptRows<Wallet>;
  readonly #budgets: KeptRows<readonly Budget[]>;
  readonly #rollups = new Map<string, Rollup>();
  #version: bigint | undefined;

  constructor(database: Database) {
    const statements = prepareStatements(database);
    this.#statements = statements;
    this.#wallets = new KeptRows((accountId) => walletOf(statements.readWallet.get(accountId)));
    this.#budgets = new KeptRows((keyId) => statements.readBudgets.all(keyId).map((row) => new Budget(row)));
  }

  /** Forgets the kept rows if another connection has written since they were read. Called with the write lock, so that none can afterwards. */
  begin(): void {
    const version = this.#statements.readVersion.get()?.data_version;
    if (version !== this.#version) this.forget();
    this.#version = version;
  }

  wallet(accountId: string): Wallet {
    return this.#wallets.use(accountId);
  }

  /** Returns how much of an account's money a request could hold. */
  available(accountId: string): bigint {
    const wallet = this.wallet(accountId);
    const free = wallet.creditsPosted - wallet.debitsPosted - wallet.debitsPending;
    return wallet.planResetsAtMs === undefined ? free : least(free, this.#planCredit(accountId) - wallet.debitsPending);
  }

  budgets(keyId: string): readonly Budget[] {
    return this.#budgets.use(keyId);
  }

  /** Draws a cost from the credit the account wants used first, then from what expires first. What no grant covers becomes debt. */
  draw(accountId: string, cost: bigint): CreditParts {
    const wallet = this.wallet(accountId);
    const parts = { plan: 0n, promo: 0n };
    let left = cost;
    for (;;) {
      wallet.grants ??= this.#statements.readGrants
        .all(accountId)
        .map(({ id, kind, remaining }) => ({ id, kind, remaining, isDrawn: false }));
      left = drawFrom(wallet.grants, left, parts);
      if (left === 0n || wallet.grants.length < GRANTS_READ) return parts;
      // All of these are used up. Once that is written, the next read finds those after them.
      this.#saveGrants(wallet);
      wallet.grants = undefined;
    }
  }

  /** Adds a settlement to its quarter hour. */
  count(settlement: Settlement): void {
    const quarterHour = settlement.createdAtMs - (settlement.createdAtMs % QUARTER_HOUR_MS);
    const { accountId, keyId, model, provider, usage, firstTokenMs } = settlement;
    const name = `${accountId} ${keyId} ${model} ${provider} ${quarterHour}`;
    let rollup = this.#rollups.get(name);
    if (rollup === undefined) {
      rollup = { accountId, keyId, model, provider, quarterHour, ...EMPTY_COUNTS };
      this.#rollups.set(name, rollup);
    }
    rollup.requests += 1;
    rollup.errors += settlement.outcome === 'failed' ? 1 : 0;
    rollup.input += usage.inputTokens;
    rollup.cached += usage.cachedInputTokens;
    rollup.written += usage.cacheWriteTokens;
    rollup.output += usage.outputTokens;
    rollup.reasoning += usage.reasoningTokens;
    rollup.cost += settlement.cost;
    rollup.firstTokenMs += firstTokenMs ?? 0;
    rollup.firstTokenCount += firstTokenMs === undefined ? 0 : 1;
    rollup.durationMs += settlement.durationMs;
  }

  /**
   * Takes back what is left of expired grants, except what running requests may need. For requests admitted on plan credit alone, that is
   * plan credit.
   */
  expire(nowMs: number): number {
    for (const [accountId, wallet] of this.#wallets.used) this.#saveWallet(accountId, wallet);
    const grants = this.#statements.readExpired.all(nowMs);
    let count = 0;
    for (const grant of grants) {
      const wallet = this.wallet(grant.account_id);
      const free =
        grant.kind === 'plan' ? this.available(grant.account_id) : wallet.creditsPosted - wallet.debitsPosted - wallet.debitsPending;
      const remaining = this.#statements.readGrant.get(grant.id)?.remaining ?? 0n;
      const amount = least(free, remaining);
      if (amount <= 0n) continue;
      count += 1;
      wallet.debitsPosted += amount;
      wallet.grants = undefined;
      this.#saveGrant(grant.id, remaining - amount);
      // Whatever running requests leave unused expires in a later call, as a transfer of its own.
      this.#statements.insertExpiry.run(`expiry:${grant.id}:${remaining}`, `wallet:${grant.account_id}`, amount, grant.id, nowMs);
    }
    return count;
  }

  save(): void {
    for (const [accountId, wallet] of this.#wallets.used) this.#saveWallet(accountId, wallet);
    for (const [keyId, budgets] of this.#budgets.used)
      for (const { spent, held, startMs, endMs, period } of budgets)
        this.#statements.writeBudget.run(spent, held, startMs, endMs ?? null, keyId, period);
    for (const row of this.#rollups.values())
      this.#statements.addRollup.run(
        row.accountId,
        row.keyId,
        row.model,
        row.provider,
        row.quarterHour,
        row.requests,
        row.errors,
        row.input,
        row.cached,
        row.written,
        row.output,
        row.reasoning,
        row.cost,
        row.firstTokenMs,
        row.firstTokenCount,
        row.durationMs,
      );
    this.#wallets.keep();
    this.#budgets.keep();
    this.#rollups.clear();
  }

  /** Forgets everything. Called when a transaction failed: what its rows were before is only known to the database. */
  forget(): void {
    this.#wallets.forget();
    this.#budgets.forget();
    this.#rollups.clear();
  }

  #saveWallet(accountId: string, wallet: Wallet): void {
    this.#statements.writeWallet.run(wallet.debitsPosted, wallet.debitsPending, accountId);
    this.#saveGrants(wallet);
  }

  /** Returns the remaining plan credit. Only called for accounts limited to it, so that others do not pay for the query. */
  #planCredit(accountId: string): bigint {
    this.#saveGrants(this.wallet(accountId));
    return this.#statements.readPlanCredit.get(accountId)?.remaining ?? 0n;
  }

  /** Writes the grants drawn on since they were last written. */
  #saveGrants({ grants = [] }: Wallet): void {
    for (const grant of grants) {
      if (grant.isDrawn) this.#saveGrant(grant.id, grant.remaining);
      grant.isDrawn = false;
    }
  }

  #saveGrant(id: string, remaining: bigint): void {
    if (remaining === 0n) this.#statements.writeSpentGrant.run(id);
    else this.#statements.writeGrant.run(remaining, id);
  }
}

function walletOf(row: WalletRow | null): Wallet {
  if (row === null) throw new Error('The account has no wallet');
  return {
    creditsPosted: row.credits_posted,
    debitsPosted: row.debits_posted,
    debitsPending: row.debits_pending,
    grants: undefined,
    planResetsAtMs: row.plan_resets_at === null ? undefined : Number(row.plan_resets_at),
  };
}

/** Draws on grants in their order. Returns what they do not cover, and adds to the parts what they do. */
function drawFrom(grants: readonly Grant[], cost: bigint, parts: CreditParts): bigint {
  let left = cost;
  for (const grant of grants) {
    if (left === 0n) break;
    const taken = least(grant.remaining, left);
    if (taken === 0n) continue;
    grant.remaining -= taken;
    grant.isDrawn = true;
    left -= taken;
    if (grant.kind === 'plan') parts.plan += taken;
    else if (grant.kind === 'promo') parts.promo += taken;
  }
  return left;
}

type Rollup = Pick<Settlement, 'accountId' | 'keyId' | 'model' | 'provider'> & { readonly quarterHour: number } & typeof EMPTY_COUNTS;

const EMPTY_COUNTS = {
  requests: 0,
  errors: 0,
  input: 0,
  cached: 0,
  written: 0,
  output: 0,
  reasoning: 0,
  cost: 0n,
  firstTokenMs: 0,
  firstTokenCount: 0,
  durationMs: 0,
};

type WalletRow = Omit<Selectable<Tables['wallets']>, 'account_id'>;

function prepareStatements(database: Database) {
  return {
    // Changes when another connection has committed, and never by what this one writes.
    readVersion: database.query<{ data_version: bigint }, []>('PRAGMA data_version'),
    readWallet: database.query<WalletRow, [string]>(
      'SELECT credits_posted, debits_posted, debits_pending, plan_resets_at FROM wallets WHERE account_id = ?1',
    ),
    writeWallet: database.query('UPDATE wallets SET debits_posted = ?1, debits_pending = ?2 WHERE account_id = ?3'),
    readBudgets: database.query<BudgetRow, [string]>(
      'SELECT period, amount, spent, held, window_start, window_end, zone, is_paced FROM key_budgets WHERE key_id = ?1 ORDER BY period',
    ),
    writeBudget: database.query(
      'UPDATE key_budgets SET spent = ?1, held = ?2, window_start = ?3, window_end = ?4 WHERE key_id = ?5 AND period = ?6',
    ),
    readGrants: database.query<GrantRow, [string]>(
      `SELECT id, kind, account_id, remaining FROM grants WHERE account_id = ?1 AND is_spent = 0
       ORDER BY draw_order, expires_at IS NULL, expires_at, created_at, id LIMIT ${GRANTS_READ}`,
    ),
    readPlanCredit: database.query<{ remaining: bigint }, [string]>(
      "SELECT COALESCE(SUM(remaining), 0) AS remaining FROM grants WHERE account_id = ?1 AND kind = 'plan' AND is_spent = 0",
    ),
    readGrant: database.query<{ remaining: bigint }, [string]>('SELECT remaining FROM grants WHERE id = ?1'),
    readExpired: database.query<GrantRow, [number]>(
      // Credit that running requests hold must not keep other expired credit waiting.
      `SELECT id, kind, account_id, remaining FROM grants JOIN wallets USING (account_id)
       WHERE expires_at <= ?1 AND is_spent = 0 AND credits_posted - debits_posted > debits_pending ORDER BY expires_at, id LIMIT 100`,
    ),
    writeGrant: database.query('UPDATE grants SET remaining = ?1 WHERE id = ?2'),
    // A statement of its own: one that names an index's column writes the index, even if the value stays.
    writeSpentGrant: database.query('UPDATE grants SET remaining = 0, is_spent = 1 WHERE id = ?1'),
    insertExpiry: database.query(
      `INSERT INTO transfers (id, debit, credit, amount, kind, ref, created_at) VALUES (?1, ?2, 'breakage', ?3, 'expiry', ?4, ?5)`,
    ),
    addRollup: database.query(
      `INSERT INTO usage_rollups (account_id, key_id, model, provider, quarter_hour, requests, errors, input_tokens,
         cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, cost, first_token_ms, first_token_count, duration_ms)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
       ON CONFLICT (account_id, key_id, model, provider, quarter_hour) DO UPDATE SET requests = requests + excluded.requests,
         errors = errors + excluded.errors, input_tokens = input_tokens + excluded.input_tokens,
         cached_input_tokens = cached_input_tokens + excluded.cached_input_tokens,
         cache_write_tokens = cache_write_tokens + excluded.cache_write_tokens,
         output_tokens = output_tokens + excluded.output_tokens, reasoning_tokens = reasoning_tokens + excluded.reasoning_tokens,
         cost = cost + excluded.cost, first_token_ms = first_token_ms + excluded.first_token_ms,
         first_token_count = first_token_count + excluded.first_token_count, duration_ms = duration_ms + excluded.duration_ms`,
    ),
  };
}
