import { windowStartMs } from '../../src/ledger/budget.ts';
import { moneyId } from '../../src/ledger/credit.ts';
import {
  BUDGET_PERIODS,
  type BudgetPeriod,
  type Extension,
  type HoldRequest,
  type Operation,
  type OperationResult,
  type Progress,
} from '../../src/ledger/ledger.ts';
import { asNanos } from '../../src/ledger/money.ts';

interface Hold {
  readonly accountId: string;
  readonly keyId: string;
  readonly nodeId: string;
  readonly createdAtMs: number;
  amount: bigint;
  progress: bigint;
}

interface Grant {
  readonly id: string;
  readonly kind: CreditKind;
  readonly accountId: string;
  readonly expiresAtMs: number | undefined;
  remaining: bigint;
}

/** Credit from the account's plan, or any other. */
export type CreditKind = 'plan' | 'promo';

/** How plan credit is used: before other credit, after it, or exclusively. */
export type Use = 'plan' | 'balance' | 'stop';

/** When plans with `overflow: stop` renew their credit. */
export const RESETS_AT_MS = Date.UTC(2050, 0, 1);

interface Transfer {
  /** The idempotency key. */
  readonly id: string;
  readonly debit: string;
  readonly credit: string;
  readonly amount: bigint;
}

interface Posting {
  readonly source: string;
  readonly amount: bigint;
}

interface Budget {
  readonly period: BudgetPeriod;
  amount: bigint;
  spent: bigint;
  windowStartMs: number;
}

interface Charge {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly cost: bigint;
  readonly createdAtMs: number;
}

/**
 * The simplest possible ledger, to compare the stores with. It never stores what is held, but adds it up from the open holds on
 * demand.
 */
export class LedgerModel {
  readonly #posted = new Set<string>();
  /** Amounts moved between two accounts, by their names. */
  readonly #flows = new Map<string, { sum: bigint; count: number }>();
  readonly #wallets = new Map<string, { credited: bigint; debited: bigint }>();
  readonly #holds = new Map<string, Hold>();
  readonly #grants: Grant[] = [];
  readonly #uses = new Map<string, Use>();
  readonly #budgets = new Map<string, Map<BudgetPeriod, Budget>>();
  readonly #charged = new Set<string>();

  addAccount(accountId: string): void {
    this.#wallets.set(accountId, { credited: 0n, debited: 0n });
  }

  balance(accountId: string): bigint {
    const { credited, debited } = this.#walletOf(accountId);
    return credited - debited;
  }

  held(accountId: string): bigint {
    return sumOf([...this.#holds.values()].filter((hold) => hold.accountId === accountId));
  }

  findHold(requestId: string): Readonly<Hold> | undefined {
    return this.#holds.get(requestId);
  }

  /** Returns what is left of the account's spendable money and of the key's budgets, whichever is less. */
  spendable(accountId: string, keyId: string): bigint {
    const rests = this.#budgetsOf(keyId).map((budget) => budget.amount - budget.spent - this.#heldOf(keyId));
    return rests.reduce(least, this.#available(accountId));
  }

  get openHolds(): readonly string[] {
    return [...this.#holds.keys()];
  }

  credit(
    accountId: string,
    { source, amount, expiresAtMs, kind }: Posting & { kind: CreditKind; expiresAtMs?: number | undefined },
  ): 'posted' | 'repeated' {
    if (!this.#post({ id: source, debit: 'promo_expense', credit: `wallet:${accountId}`, amount })) return 'repeated';
    const spendable = least(amount, most(0n, this.balance(accountId)));
    this.#grants.push({ id: moneyId(`grant:${source}`), kind, accountId, expiresAtMs, remaining: spendable });
    return 'posted';
  }

  debit(accountId: string, { source, amount }: Posting): 'posted' | 'repeated' {
    if (!this.#post({ id: source, debit: `wallet:${accountId}`, credit: 'promo_expense', amount })) return 'repeated';
    this.#draw(accountId, amount);
    return 'posted';
  }

  setUse(accountId: string, use: Use): void {
    this.#uses.set(accountId, use);
  }

  /** Does what `Keys.setBudget` does. */
  setBudget(keyId: string, period: BudgetPeriod, amount: bigint | undefined): void {
    const budgets = this.#budgets.get(keyId) ?? new Map<BudgetPeriod, Budget>();
    this.#budgets.set(keyId, budgets);
    const budget = budgets.get(period);
    if (amount === undefined) budgets.delete(period);
    else if (budget !== undefined) budget.amount = amount;
    else budgets.set(period, { period, amount, spent: 0n, windowStartMs: windowStartMs(period, Date.now()) });
  }

  apply(operation: Operation, nodeId: string): OperationResult {
    switch (operation.type) {
      case 'hold':
        return this.#hold(operation.hold, nodeId);
      case 'extend':
        return this.#extend(operation.extension);
      case 'progress':
        return this.#progress(operation.progress);
      case 'settle':
        return { type: this.#settle(operation.settlement) ? 'settled' : 'resolved_before' };
      case 'recover':
        return { type: 'done', count: this.#recover(nodeId) };
      case 'expire':
        return { type: 'done', count: this.#expire(operation.nowMs) };
      case 'prune':
        return { type: 'done', count: 0 };
    }
  }

  /** Returns everything that can be compared, as lines of text. */
  describe(): string[] {
    return [
      ...this.#describeWallets(),
      ...this.#describeHolds(),
      ...this.#describeGrants(),
      ...this.#describeBudgets(),
      ...this.#describeFlows(),
    ].toSorted();
  }

  #hold(request: HoldRequest, nodeId: string): OperationResult {
    const { requestId, accountId, keyId, createdAtMs, minimum } = request;
    const earlier = this.#holds.get(requestId);
    if (earlier !== undefined) return { type: 'held', amount: asNanos(earlier.amount) };
    let available = this.#available(accountId);
    if (minimum > 0n && available < minimum) return this.#insufficient(accountId, available);
    this.#turn(keyId, createdAtMs);
    for (const budget of this.#budgetsOf(keyId)) {
      const left = budget.amount - budget.spent - this.#heldOf(keyId);
      if (minimum > 0n && left < minimum) return { type: 'budget_exhausted', available: asNanos(left), period: budget.period };
      available = least(available, left);
    }
    const amount = request.amount > minimum ? least(request.amount, available) : request.amount;
    this.#holds.set(requestId, { accountId, keyId, nodeId, createdAtMs, amount, progress: 0n });
    return { type: 'held', amount: asNanos(amount) };
  }

  /** With `overflow: stop`, only plan credit is available. */
  #available(accountId: string): bigint {
    const free = this.balance(accountId) - this.held(accountId);
    if (this.#uses.get(accountId) !== 'stop') return free;
    const ofPlan = this.#grants.filter((grant) => grant.accountId === accountId && grant.kind === 'plan');
    return least(free, ofPlan.reduce((sum, { remaining }) => sum + remaining, 0n) - this.held(accountId));
  }

  #insufficient(accountId: string, left: bigint): OperationResult {
    const available = asNanos(left);
    if (this.#uses.get(accountId) !== 'stop') return { type: 'insufficient_funds', available };
    return { type: 'plan_exhausted', available, resetsAtMs: RESETS_AT_MS };
  }

  #extend({ requestId, accountId, keyId, total }: Extension): OperationResult {
    const hold = this.#holds.get(requestId);
    this.#turn(keyId, Date.now());
    if (hold === undefined) return { type: 'refused' };
    if (hold.amount >= total) return { type: 'extended' };
    if (this.spendable(accountId, keyId) < total - hold.amount) return { type: 'refused' };
    hold.amount = total;
    return { type: 'extended' };
  }

  #progress({ requestId, cost }: Progress): OperationResult {
    const hold = this.#holds.get(requestId);
    if (hold !== undefined) hold.progress = cost;
    return { type: 'recorded' };
  }

  #settle({ requestId, accountId, keyId, cost, createdAtMs }: Charge): boolean {
    if (!this.#holds.delete(requestId) || this.#charged.has(requestId)) return false;
    this.#charged.add(requestId);
    if (cost > 0n) this.#post({ id: requestId, debit: `wallet:${accountId}`, credit: 'revenue', amount: cost });
    this.#draw(accountId, cost);
    this.#turn(keyId, createdAtMs);
    for (const budget of this.#budgetsOf(keyId)) budget.spent += cost;
    return true;
  }

  #recover(nodeId: string): number {
    const orphans = [...this.#holds].filter(([, hold]) => hold.nodeId !== nodeId);
    return orphans.filter(([requestId, hold]) => this.#settle({ ...hold, requestId, cost: least(hold.progress, hold.amount) })).length;
  }

  #expire(nowMs: number): number {
    const expired = this.#grants.filter((grant) => grant.expiresAtMs !== undefined && grant.expiresAtMs <= nowMs);
    let count = 0;
    for (const grant of expired.toSorted((first, second) => (first.expiresAtMs ?? 0) - (second.expiresAtMs ?? 0))) {
      const free = grant.kind === 'plan' ? this.#available(grant.accountId) : this.balance(grant.accountId) - this.held(grant.accountId);
      const amount = least(grant.remaining, free);
      if (amount <= 0n) continue;
      const id = `expiry:${grant.id}:${grant.remaining}`;
      this.#post({ id, debit: `wallet:${grant.accountId}`, credit: 'breakage', amount });
      grant.remaining -= amount;
      count += 1;
    }
    return count;
  }

  #draw(accountId: string, amount: bigint): void {
    const grants = this.#grants.filter((grant) => grant.accountId === accountId);
    let left = amount;
    for (const grant of grants.toSorted((first, second) => this.#placeOf(first) - this.#placeOf(second) || endOf(first) - endOf(second))) {
      const taken = least(grant.remaining, left);
      grant.remaining -= taken;
      left -= taken;
    }
  }

  #placeOf({ accountId, kind }: Grant): number {
    return kind === 'plan' ? PLACES[this.#uses.get(accountId) ?? 'plan'] : 0;
  }

  #turn(keyId: string, nowMs: number): void {
    for (const budget of this.#budgetsOf(keyId)) {
      const start = windowStartMs(budget.period, nowMs);
      if (start <= budget.windowStartMs) continue;
      budget.windowStartMs = start;
      budget.spent = 0n;
    }
  }

  /** Sorted by name: if several are used up, the first is reported. */
  #budgetsOf(keyId: string): Budget[] {
    const budgets = this.#budgets.get(keyId);
    return BUDGET_PERIODS.toSorted().flatMap((period) => budgets?.get(period) ?? []);
  }

  #heldOf(keyId: string): bigint {
    return sumOf([...this.#holds.values()].filter((hold) => hold.keyId === keyId));
  }

  #post({ id, debit, credit, amount }: Transfer): boolean {
    if (this.#posted.has(id)) return false;
    this.#posted.add(id);
    const name = `${debit} ${credit}`;
    const flow = this.#flows.get(name) ?? { sum: 0n, count: 0 };
    this.#flows.set(name, { sum: flow.sum + amount, count: flow.count + 1 });
    if (debit.startsWith('wallet:')) this.#walletOf(debit.slice('wallet:'.length)).debited += amount;
    if (credit.startsWith('wallet:')) this.#walletOf(credit.slice('wallet:'.length)).credited += amount;
    return true;
  }

  #walletOf(accountId: string): { credited: bigint; debited: bigint } {
    const wallet = this.#wallets.get(accountId);
    if (wallet === undefined) throw new Error('The account has no wallet');
    return wallet;
  }

  #describeWallets(): string[] {
    return [...this.#wallets].map(([id, { credited, debited }]) => `wallet ${id} ${credited} ${debited} ${this.held(id)}`);
  }

  #describeHolds(): string[] {
    return [...this.#holds].map(([id, { amount, progress }]) => `hold ${id} ${amount} ${progress} 0`);
  }

  /** The order among credits without expiry does not matter, so the remaining amounts are grouped by expiry. */
  #describeGrants(): string[] {
    return [...Map.groupBy(this.#grants, ({ accountId, kind, expiresAtMs }) => `${accountId}|${kind}|${expiresAtMs ?? 'never'}`)].map(
      ([name, grants]) => `grant ${name} ${grants.reduce((sum, grant) => sum + grant.remaining, 0n)} 0 0`,
    );
  }

  #describeBudgets(): string[] {
    return [...this.#budgets.keys()].flatMap((keyId) =>
      this.#budgetsOf(keyId).map(
        ({ period, spent, windowStartMs: start }) => `budget ${keyId}|${period} ${spent} ${this.#heldOf(keyId)} ${start}`,
      ),
    );
  }

  #describeFlows(): string[] {
    return [...this.#flows].map(([name, { sum, count }]) => `transfer ${name.replace(' ', '|')} ${sum} ${count} 0`);
  }
}

/** Relative to other credit, whose place is 0. */
const PLACES: Readonly<Record<Use, number>> = { stop: -1, plan: 0, balance: 1 };

function endOf({ expiresAtMs }: Grant): number {
  return expiresAtMs ?? Number.MAX_VALUE;
}

function sumOf(amounts: Iterable<{ readonly amount: bigint }>): bigint {
  let sum = 0n;
  for (const { amount } of amounts) sum += amount;
  return sum;
}

function least(first: bigint, second: bigint): bigint {
  return first < second ? first : second;
}

function most(first: bigint, second: bigint): bigint {
  return first > second ? first : second;
}
