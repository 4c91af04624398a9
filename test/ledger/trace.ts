import fc from 'fast-check';
import { BUDGET_PERIODS, type BudgetPeriod, type Operation } from '../../src/ledger/ledger.ts';
import type { CreditKind, LedgerModel, Use } from './model.ts';
import { extendOf, holdOf, progressOf, releaseOf, settleOf, type Owner } from './operations.ts';

/** One random step. Its numbers are mapped to valid values when it runs, so any part of a trace is a valid trace. */
export interface Step {
  readonly kind: keyof typeof WEIGHTS;
  readonly owner: number;
  readonly request: number;
  readonly amount: number;
  readonly chance: number;
}

/** Something that happens between two batches. */
export type Event =
  | {
      readonly type: 'credit';
      readonly kind: CreditKind;
      readonly accountId: string;
      readonly source: string;
      readonly amount: bigint;
      readonly expiresAtMs?: number;
    }
  | { readonly type: 'debit'; readonly accountId: string; readonly source: string; readonly amount: bigint }
  | { readonly type: 'use'; readonly accountId: string; readonly use: Use }
  | { readonly type: 'budget'; readonly keyId: string; readonly period: BudgetPeriod; readonly amount: bigint | undefined }
  | { readonly type: 'restart' }
  | { readonly type: 'commit' };

/** The relative frequency of each kind. `again` repeats an earlier operation, whatever has happened to it since. */
const WEIGHTS = {
  hold: 300,
  settle: 240,
  settle_before_hold: 5,
  release: 30,
  extend: 60,
  progress: 100,
  again: 120,
  expire: 10,
  tick: 12,
  commit: 6,
  credit: 10,
  debit: 1,
  use: 4,
  budget: 2,
  restart: 1,
};

/** `stop` is the trickiest, so it is the most frequent. */
const USES: readonly Use[] = ['plan', 'balance', 'stop', 'stop'];

type OperationKind = Exclude<Step['kind'], 'commit' | 'restart' | 'credit' | 'debit' | 'use' | 'budget' | 'tick'>;

/** The steps of a trace, of any length. */
export const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    kind: fc.oneof(...Object.entries(WEIGHTS).map(([kind, weight]) => ({ weight, arbitrary: fc.constant(kind as Step['kind']) }))),
    owner: fc.nat({ max: 5 }),
    request: fc.nat({ max: 999 }),
    amount: fc.nat({ max: 1000 }),
    chance: fc.nat({ max: 99 }),
  }),
  { minLength: 1, maxLength: 2000, size: 'max' },
);

/** Ahead of the real clock, which extensions use, so that they never start a new window. Close to the end of a month. */
const BEGIN_MS = Date.UTC(2040, 0, 28, 20);
const MINUTE_MS = 60_000;
const OPEN_HOLDS_MAX = 200;
const REMEMBERED_MAX = 300;
/** Ids grow with time, as real ones do. Recovery follows their order, and so do budget windows. */
const ID_DIGITS = 6;

/** Turns steps into operations and events, based on the state of the model. */
export class Trace {
  readonly #model: LedgerModel;
  readonly #owners: readonly Owner[];
  readonly #name: string;
  readonly #history: Operation[] = [];
  #nowMs = BEGIN_MS;
  #lastRequest = 0;
  #lastPosting = 0;

  constructor(model: LedgerModel, owners: readonly Owner[], name: string) {
    this.#model = model;
    this.#owners = owners;
    this.#name = name;
  }

  /** Returns the operations of a step, or the event it causes between two batches. */
  next(step: Step): readonly Operation[] | Event {
    switch (step.kind) {
      case 'commit':
      case 'restart':
        return { type: step.kind };
      case 'credit':
      case 'debit':
        return this.#posting(step, step.kind);
      case 'use':
        return { type: 'use', accountId: this.#ownerAt(step.owner).accountId, use: USES[step.chance % USES.length] ?? 'plan' };
      case 'budget':
        return this.#budget(step);
      case 'tick':
        this.#nowMs += step.amount * (step.chance < 80 ? MINUTE_MS : 10 * MINUTE_MS);
        return [];
      case 'hold':
      case 'settle':
      case 'settle_before_hold':
      case 'release':
      case 'extend':
      case 'progress':
      case 'again':
      case 'expire':
        return this.#operations(step, step.kind);
    }
  }

  #operations(step: Step, kind: OperationKind) {
    const operations = this.#make(step, this.#model.openHolds.length > OPEN_HOLDS_MAX && kind === 'hold' ? 'settle' : kind);
    this.#history.push(...operations);
    this.#history.splice(0, Math.max(0, this.#history.length - REMEMBERED_MAX));
    return operations;
  }

  #make(step: Step, kind: OperationKind): Operation[] {
    switch (kind) {
      case 'hold':
        return [this.#hold(step)];
      case 'settle_before_hold': {
        const hold = this.#hold(step);
        const { requestId, accountId, keyId, createdAtMs } = hold.hold;
        return [settleOf({ accountId, keyId }, requestId, { cost: BigInt(step.amount), createdAtMs }), hold];
      }
      case 'again':
        return this.#history.slice(step.request % Math.max(1, this.#history.length)).slice(0, 1);
      case 'expire':
        return [{ type: 'expire', nowMs: this.#nowMs }];
      case 'settle':
      case 'release':
      case 'extend':
      case 'progress':
        return this.#onOpen(step, kind);
    }
  }

  #hold({ owner, amount, chance }: Step): Extract<Operation, { type: 'hold' }> {
    this.#lastRequest += 1;
    const wanted = chance < 5 ? 0n : BigInt(amount + 1);
    const facts = { amount: wanted, minimum: chance < 50 ? wanted : 1n + wanted / 3n, createdAtMs: this.#nowMs };
    return holdOf(this.#ownerAt(owner), `req_${this.#name}_${String(this.#lastRequest).padStart(ID_DIGITS, '0')}`, facts);
  }

  /** Returns an operation on a running request, with that request's owner. */
  #onOpen({ request, amount, chance }: Step, kind: 'settle' | 'release' | 'extend' | 'progress'): Operation[] {
    const open = this.#model.openHolds;
    const requestId = open[request % Math.max(1, open.length)];
    const hold = requestId === undefined ? undefined : this.#model.findHold(requestId);
    if (requestId === undefined || hold === undefined) return [];
    const owner = { accountId: hold.accountId, keyId: hold.keyId };
    const { createdAtMs } = hold;
    // Usually the hold covers the cost; sometimes it costs more, or nothing.
    const cost = chance < 8 ? BigInt(amount) * 2n : (hold.amount * BigInt(amount)) / 1000n;
    if (kind === 'release') return [releaseOf(owner, requestId, createdAtMs)];
    if (kind === 'extend') return [extendOf(owner, requestId, hold.amount + BigInt(amount + 1))];
    if (kind === 'progress') return [progressOf(owner, requestId, cost)];
    return [settleOf(owner, requestId, { cost, createdAtMs })];
  }

  /** Every fifth posting repeats an earlier one. */
  #posting({ owner, amount, chance }: Step, type: 'credit' | 'debit'): Event {
    const isRepeated = chance % 5 === 0 && this.#lastPosting > 0;
    if (!isRepeated) this.#lastPosting += 1;
    const source = `${type}:${this.#name}:${this.#lastPosting}`;
    const { accountId } = this.#ownerAt(owner);
    const posting = { accountId, source, amount: BigInt(amount + 1) * 20n };
    if (type === 'debit') return { type, ...posting };
    // Every expiry is different, because the order among credits with the same expiry does not matter.
    const expiry = { expiresAtMs: this.#nowMs + 30 * amount * MINUTE_MS + this.#lastPosting };
    // Plan credit always expires.
    if (chance < 40) return { type, kind: 'plan', ...posting, ...expiry };
    return { type, kind: 'promo', ...posting, ...(chance < 60 && expiry) };
  }

  #budget({ owner, amount, chance }: Step): Event {
    const period = BUDGET_PERIODS[chance % BUDGET_PERIODS.length] ?? 'day';
    return { type: 'budget', keyId: this.#ownerAt(owner).keyId, period, amount: chance < 20 ? undefined : BigInt(amount) * 40n };
  }

  #ownerAt(index: number): Owner {
    const owner = this.#owners[index % this.#owners.length];
    if (owner === undefined) throw new Error('A trace needs an owner');
    return owner;
  }
}
