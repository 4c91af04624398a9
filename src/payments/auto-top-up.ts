import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { windowStartMs } from '../ledger/budget.ts';
import { asNanos, type Nanos } from '../ledger/money.ts';
import { runEach } from '../run-each.ts';
import { yieldToOthers } from '../turns.ts';
import type { PaymentDesk } from './desk.ts';
import { CHARGES_AT_ONCE, findAmountProblem, UNFINISHED, type AmountProblem } from './payments.ts';
import { BELOW_THRESHOLD, chargedSince } from './still-wanted.ts';

/** Settings of an account's automatic top-ups: threshold, amount, card and monthly cap. */
export interface AutoTopUp {
  readonly isOn: boolean;
  readonly threshold: Nanos;
  readonly amount: Nanos;
  readonly monthlyCap: Nanos;
  readonly methodRef: string;
  /** Why it was turned off or paused; empty if the account turned it off itself. */
  readonly reason: string;
  /** Amount charged in the current UTC month. */
  readonly chargedThisMonth: Nanos;
}

/** Why settings were refused. */
export type AutoTopUpProblem = AmountProblem | 'cap_below_amount' | 'no_such_card';

/** A turn stops looking after the step that finds this many to charge. */
const CHARGES_PER_TURN = 100;
const ACCOUNTS_PER_STEP = 250;
/** Up to 20,000 accounts are looked at in every turn. With more, each one has its turn less often, but requests are not slowed down. */
const STEPS_PER_TURN = 80;

/** Automatic top-ups, off until an account enables them. */
export class AutoTopUps {
  readonly #database: Kysely<Tables>;
  readonly #desk: PaymentDesk;
  /** The last account that was looked at; empty after the last of all. */
  #lookedUntil = '';

  constructor(database: Kysely<Tables>, desk: PaymentDesk) {
    this.#database = database;
    this.#desk = desk;
  }

  async find(accountId: string, nowMs: number): Promise<AutoTopUp | undefined> {
    const row = await this.#database.selectFrom('auto_top_ups').selectAll().where('account_id', '=', accountId).executeTakeFirst();
    if (row === undefined) return undefined;
    const monthMs = windowStartMs('month', nowMs);
    return {
      isOn: row.is_on === 1n,
      threshold: asNanos(row.threshold),
      amount: asNanos(row.amount),
      monthlyCap: asNanos(row.monthly_cap),
      methodRef: row.method_ref,
      // A cap reached in an earlier month no longer applies.
      reason: row.reason === CAP_REACHED && row.updated_at < monthMs ? '' : row.reason,
      chargedThisMonth: asNanos(await chargedSince(this.#database, accountId, monthMs)),
    };
  }

  /** Enables it with these terms. Returns the problem if they are refused. */
  async switchOn(
    accountId: string,
    terms: Pick<AutoTopUp, 'threshold' | 'amount' | 'monthlyCap' | 'methodRef'>,
    nowMs: number,
  ): Promise<AutoTopUpProblem | undefined> {
    const problem = findAmountProblem(terms.amount, this.#desk.rules);
    if (problem !== undefined) return problem;
    if (terms.monthlyCap < terms.amount) return 'cap_below_amount';
    const cards = (await this.#desk.driver('stripe')?.cards?.list(accountId)) ?? [];
    if (!cards.some((card) => card.methodRef === terms.methodRef)) return 'no_such_card';
    const row = {
      is_on: 1,
      threshold: terms.threshold,
      amount: terms.amount,
      monthly_cap: terms.monthlyCap,
      method_ref: terms.methodRef,
      reason: '',
      updated_at: nowMs,
    };
    await this.#database
      .insertInto('auto_top_ups')
      .values({ account_id: accountId, ...row })
      .onConflict((conflict) => conflict.column('account_id').doUpdateSet(row))
      .execute();
    return undefined;
  }

  /** Disables it. The reason is shown to the account; it is empty if the account did so itself. */
  async switchOff(accountId: string, reason: string, nowMs: number): Promise<void> {
    await this.#database
      .updateTable('auto_top_ups')
      .set({ is_on: 0, reason, updated_at: nowMs })
      .where('account_id', '=', accountId)
      .execute();
  }

  /** Charges the cards of accounts that have fallen below their threshold. */
  async turn(nowMs: number): Promise<void> {
    await runEach(await this.#findLow(nowMs), (candidate) => this.#topUp(candidate, nowMs), CHARGES_AT_ONCE);
  }

  /**
   * Returns accounts below their threshold. Looks at some hundred accounts at a time: the embedded database reads them in the thread of the
   * requests, which wait meanwhile. What a turn does not get to is the next one's, which begins where this one ends.
   */
  async #findLow(nowMs: number): Promise<Candidate[]> {
    const low: Candidate[] = [];
    for (let steps = 0; steps < STEPS_PER_TURN && low.length < CHARGES_PER_TURN; steps += 1) {
      const after = this.#lookedUntil;
      const last = await this.#findStepEnd(after);
      low.push(...(await this.#findLowIn({ after, last }, nowMs)));
      this.#lookedUntil = last ?? '';
      if (last === undefined) break;
      await yieldToOthers();
    }
    return low;
  }

  /** Returns the last account of the step after this one; undefined if all that are left make one step. */
  async #findStepEnd(after: string): Promise<string | undefined> {
    const accounts = this.#database.selectFrom('auto_top_ups').select('account_id').where('account_id', '>', after);
    const row = await accounts
      .orderBy('account_id')
      .offset(ACCOUNTS_PER_STEP - 1)
      .limit(1)
      .executeTakeFirst();
    return row?.account_id;
  }

  /** Accounts at their cap are excluded: they would fill every turn until the month ends. */
  async #findLowIn({ after, last }: Step, nowMs: number): Promise<Candidate[]> {
    const monthStart = BigInt(windowStartMs('month', nowMs));
    return (
      this.#database
        .selectFrom('auto_top_ups')
        // Cross joins make the embedded database keep this join order. Otherwise it would start with all active accounts.
        .crossJoin('wallets')
        .crossJoin('accounts')
        .whereRef('wallets.account_id', '=', 'auto_top_ups.account_id')
        .whereRef('accounts.id', '=', 'auto_top_ups.account_id')
        .select(['auto_top_ups.account_id', 'auto_top_ups.amount', 'auto_top_ups.monthly_cap', 'auto_top_ups.method_ref', 'accounts.email'])
        .where('auto_top_ups.account_id', '>', after)
        .$if(last !== undefined, (query) => query.where('auto_top_ups.account_id', '<=', last ?? ''))
        .where('auto_top_ups.is_on', '=', 1n)
        .where('accounts.status', '=', 'active')
        .where(BELOW_THRESHOLD)
        .where((where) => where.or([where('auto_top_ups.reason', '<>', CAP_REACHED), where('auto_top_ups.updated_at', '<', monthStart)]))
        .where((where) =>
          where.not(
            where.exists(
              where
                .selectFrom('payments')
                .select('payments.id')
                .whereRef('payments.account_id', '=', 'auto_top_ups.account_id')
                .where('purpose', '=', 'auto_top_up')
                .where('payments.status', 'in', UNFINISHED),
            ),
          ),
        )
        .execute()
    );
  }

  /** Charges the card, unless that would exceed the cap. */
  async #topUp(candidate: Candidate, nowMs: number): Promise<void> {
    const { account_id: accountId, amount, method_ref: methodRef, email } = candidate;
    const charged = await chargedSince(this.#database, accountId, windowStartMs('month', nowMs));
    if (charged + amount > candidate.monthly_cap) return this.#noteCap(candidate, nowMs);
    await this.#desk.charge({ payer: { accountId, email }, amount: asNanos(amount), purpose: 'auto_top_up', methodRef, nowMs });
  }

  /** Records that the cap is reached, unless the terms have changed. It stays on and continues next month. */
  async #noteCap({ account_id: accountId, amount, monthly_cap: cap }: Candidate, nowMs: number): Promise<void> {
    await this.#database
      .updateTable('auto_top_ups')
      .set({ reason: CAP_REACHED, updated_at: nowMs })
      .where('account_id', '=', accountId)
      .where('is_on', '=', 1n)
      .where('amount', '=', amount)
      .where('monthly_cap', '=', cap)
      .execute();
  }
}

/** Stored in the database and compared with it: changing the text would lose the mark. */
const CAP_REACHED = 'the most for this month is reached';

/** The accounts after one, up to and including another. */
interface Step {
  readonly after: string;
  readonly last: string | undefined;
}

interface Candidate {
  readonly account_id: string;
  readonly email: string;
  readonly amount: bigint;
  readonly monthly_cap: bigint;
  readonly method_ref: string;
}
