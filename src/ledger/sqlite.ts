import { GatewayError } from '../errors.ts';
import type { HoldRequest, HoldResult, Ledger, Settlement } from './ledger.ts';
import { asNanos, type Nanos } from './money.ts';
import { WriterThread } from './sqlite-thread.ts';
import type { WriterResult } from './sqlite-writer.ts';

/** An account's money as this process knows it: the balance on disk, and what its running requests may still cost. */
interface Wallet {
  balance: bigint;
  held: bigint;
  /** What the database says is held; it follows within the interval below, for people to look at. */
  publishedHeld: bigint;
  isStale: boolean;
}

interface Hold {
  readonly wallet: Wallet;
  readonly amount: Nanos;
  isSettling: boolean;
}

const PUBLISH_INTERVAL_MS = 250;
const CACHED_WALLETS_MAX = 100_000;

/** Opens the ledger on the embedded database. */
export async function openSqliteLedger(path: string): Promise<Ledger> {
  return new SqliteLedger(await WriterThread.start(path));
}

/**
 * The ledger on the embedded database, which one server process owns. So holds live in its memory, where taking one is
 * a comparison: a crash forgets them, and that is their release. Charges are committed by the writer thread.
 */
class SqliteLedger implements Ledger {
  readonly #writer: WriterThread;
  readonly #wallets = new Map<string, Wallet>();
  readonly #holds = new Map<string, Hold>();
  readonly #publishTimer: ReturnType<typeof setInterval>;
  #generation = 0;

  constructor(writer: WriterThread) {
    this.#writer = writer;
    this.#publishTimer = setInterval(() => this.#publishHeld(), PUBLISH_INTERVAL_MS);
  }

  async hold({ requestId, accountId, amount, minimum }: HoldRequest): Promise<HoldResult> {
    let wallet = this.#wallets.get(accountId);
    while (wallet === undefined || wallet.isStale) {
      await this.#read(accountId);
      wallet = this.#wallets.get(accountId);
    }
    // Nothing is awaited from here on, so no other request can come between the question and the taking.
    const available = wallet.balance - wallet.held;
    if (minimum > 0n && available < minimum) return { type: 'insufficient_funds', available: asNanos(available) };
    const held = amount > available && amount > minimum ? asNanos(available) : amount;
    wallet.held += held;
    this.#holds.set(requestId, { wallet, amount: held, isSettling: false });
    return { type: 'held', amount: held };
  }

  async settle(settlement: Settlement): Promise<void> {
    const hold = this.#holds.get(settlement.requestId);
    if (hold === undefined || hold.isSettling) return;
    hold.isSettling = true;
    const result = await this.#writer.submit({ type: 'settle', settlement, held: hold.amount });
    // A charge that could not be written keeps its hold: better too little to spend than too much.
    if (result.type !== 'done') throw unavailable(result);
    hold.wallet.balance = result.balance;
    hold.wallet.held -= hold.amount;
    this.#holds.delete(settlement.requestId);
  }

  refresh(): void {
    this.#generation += 1;
    for (const [accountId, wallet] of this.#wallets) {
      wallet.isStale = true;
      if (wallet.held === 0n && wallet.publishedHeld === 0n) this.#wallets.delete(accountId);
    }
  }

  get isWritable(): boolean {
    return this.#writer.isAlive;
  }

  async close(): Promise<void> {
    clearInterval(this.#publishTimer);
    this.#publishHeld();
    await this.#writer.close();
  }

  async #read(accountId: string): Promise<void> {
    if (this.#wallets.size >= CACHED_WALLETS_MAX) this.refresh();
    const generation = this.#generation;
    const result = await this.#writer.submit({ type: 'read', accountId });
    if (result.type !== 'done') throw unavailable(result);
    const wallet = this.#wallets.get(accountId) ?? { balance: 0n, held: 0n, publishedHeld: 0n, isStale: false };
    wallet.balance = result.balance;
    // A change that came while we read may not be in what we read.
    wallet.isStale = generation !== this.#generation;
    this.#wallets.set(accountId, wallet);
  }

  #publishHeld(): void {
    for (const [accountId, wallet] of this.#wallets) {
      if (wallet.held === wallet.publishedHeld) continue;
      wallet.publishedHeld = wallet.held;
      void this.#writer.submit({ type: 'publish', accountId, held: asNanos(wallet.held) });
    }
  }
}

function unavailable(result: WriterResult): GatewayError {
  return new GatewayError('ledger_unavailable', 'The ledger cannot be written just now, so nothing was charged. Try again shortly.', {
    cause: new Error(result.type === 'failed' ? result.reason : `the writer answered ${result.type}`),
    retryAfterSeconds: 1,
  });
}
