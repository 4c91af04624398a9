import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Operation, OperationResult } from '../../src/ledger/ledger.ts';
import { postgresUrl } from '../services/postgres.ts';
import { LedgerModel } from './model.ts';
import type { Owner } from './operations.ts';
import { openPostgresSubject, openSqliteSubject, type Subject } from './subjects.ts';
import { steps, Trace, type Event, type Step } from './trace.ts';

/** How many operations each store performs. A failure prints the seed and the shortest trace. */
const OPERATIONS = Number(process.env['LEDGER_OPERATIONS'] ?? 200_000);
const RUNS_AT_ONCE = 10;
/** The search for the shortest failing trace stops after this long. */
const SHRINK_MS = 120_000;
const FAR_AHEAD_MS = Date.UTC(2100, 0, 1);

describe.skipIf(postgresUrl === undefined)('any trace of operations, repeated and out of order, with crashes in between', () => {
  let subjects: readonly Subject[];
  let operations = 0;
  let runs = 0;
  const isDone = (): boolean => operations >= OPERATIONS;

  beforeAll(async () => {
    subjects = [await openSqliteSubject(), await openPostgresSubject()];
  });
  afterAll(async () => {
    for (const subject of subjects) await subject.close();
  });

  test(
    'matches the results and balances of a simple model after every batch, on both stores',
    async () => {
      const property = fc.asyncProperty(steps, async (trace) => {
        runs += 1;
        operations += await new Run(subjects, `${process.pid}_${runs}`).run(trace);
      });
      while (!isDone()) await fc.assert(property, { numRuns: RUNS_AT_ONCE, interruptAfterTimeLimit: SHRINK_MS });
    },
    SHRINK_MS + OPERATIONS * 5,
  );
});

/** One trace on new accounts, run on the model and on every store. */
class Run {
  readonly #model = new LedgerModel();
  readonly #subjects: readonly Subject[];
  readonly #owners: readonly Owner[];
  readonly #name: string;
  #batch: Operation[] = [];
  #expected: OperationResult[] = [];
  #node = 0;
  #count = 0;

  constructor(subjects: readonly Subject[], name: string) {
    this.#subjects = subjects;
    this.#name = name;
    // Two keys share the first account, because budgets belong to keys and balances to accounts.
    this.#owners = [0, 0, 1, 2].map((account, key) => ({ accountId: `acct_${name}_${account}`, keyId: `key_${name}_${key}` }));
  }

  async run(trace: readonly Step[]): Promise<number> {
    await this.#begin();
    const maker = new Trace(this.#model, this.#owners, this.#name);
    for (const step of trace) {
      const next = maker.next(step);
      if ('type' in next) await this.#between(next);
      else next.forEach((operation) => this.#submit(operation));
    }
    await this.#end();
    return this.#count;
  }

  /** Cleans up what a failed trace left behind, so that it does not disturb this one. */
  async #begin(): Promise<void> {
    for (const subject of this.#subjects) {
      await subject.restart(this.#nodeId);
      await subject.apply([{ type: 'recover' }, { type: 'expire', nowMs: FAR_AHEAD_MS }]);
      await subject.addOwners(this.#owners);
    }
    for (const accountId of new Set(this.#owners.map((owner) => owner.accountId))) {
      this.#model.addAccount(accountId);
      await this.#between({ type: 'credit', kind: 'promo', accountId, source: `begin:${accountId}`, amount: 20_000n });
    }
  }

  /** Ends all holds and expires all credit that can expire, then verifies every store. */
  async #end(): Promise<void> {
    await this.#between({ type: 'restart' });
    this.#submit({ type: 'expire', nowMs: FAR_AHEAD_MS });
    await this.#commit();
    expect(this.#model.openHolds).toEqual([]);
    for (const subject of this.#subjects) expect(await subject.verify(this.#owners)).toEqual([]);
  }

  #submit(operation: Operation): void {
    const openBefore = this.#model.openHolds.length;
    const result = this.#model.apply(operation, this.#nodeId);
    if (operation.type === 'hold' && this.#model.openHolds.length > openBefore && operation.hold.amount > 0n) {
      // A hold is only admitted if the balance and every budget cover it.
      const rest = this.#model.spendable(operation.hold.accountId, operation.hold.keyId);
      expect(rest >= 0n).toBe(true);
    }
    this.#batch.push(operation);
    this.#expected.push(result);
  }

  async #between(event: Event): Promise<void> {
    await this.#commit();
    if (event.type === 'restart') this.#node += 1;
    const expected = this.#handleInModel(event);
    for (const subject of this.#subjects) {
      if (event.type === 'restart') await subject.restart(this.#nodeId);
      else expect(await subject.handle(event)).toEqual(expected);
    }
    if (event.type !== 'restart') return;
    this.#submit({ type: 'recover' });
    await this.#commit();
  }

  #handleInModel(event: Event): 'posted' | 'repeated' | undefined {
    if (event.type === 'credit') return this.#model.credit(event.accountId, event);
    if (event.type === 'debit') return this.#model.debit(event.accountId, event);
    if (event.type === 'use') this.#model.setUse(event.accountId, event.use);
    if (event.type === 'budget') this.#model.setBudget(event.keyId, event.period, event.amount);
    return undefined;
  }

  async #commit(): Promise<void> {
    if (this.#batch.length === 0) return;
    const [batch, expected, state] = [this.#batch, this.#expected, this.#model.describe()];
    this.#batch = [];
    this.#expected = [];
    this.#count += batch.length;
    const compare = async (subject: Subject): Promise<void> => {
      const results = await subject.apply(batch);
      // A thorough comparison of many equal values is slow, and only needed on failure.
      if (!Bun.deepEquals(results, expected)) expect({ [subject.name]: results }).toEqual({ [subject.name]: expected });
      const found = await subject.describe(this.#owners);
      if (found.join() !== state.join()) expect({ [subject.name]: found }).toEqual({ [subject.name]: state });
    };
    await Promise.all(this.#subjects.map(compare));
  }

  get #nodeId(): string {
    return `node_${this.#name}_${this.#node}`;
  }
}
