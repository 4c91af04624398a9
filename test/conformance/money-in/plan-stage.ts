import { afterAll, afterEach, beforeAll, beforeEach } from 'bun:test';
import type { OrderResult, PlanOrder } from '../../../src/accounts/plan-orders.ts';
import type { Subscription } from '../../../src/accounts/subscriptions.ts';
import type { LedgerDriver } from '../ledger-driver.ts';
import { MoneyStage, usd, type Customer } from './stage.ts';

/** When the tests about plans start: the last day of a long month. */
export const MARCH_31 = Date.UTC(2027, 2, 31, 12);

/** A stage with plans, and helpers for tests about them. */
export class PlanStage {
  readonly money: MoneyStage;

  private constructor(money: MoneyStage) {
    this.money = money;
  }

  static async open(driver: LedgerDriver): Promise<PlanStage> {
    const money = await MoneyStage.open(driver);
    await money.makePlan('basic', { price: usd('10'), included: usd('12') });
    await money.makePlan('pro', { price: usd('30'), included: usd('36') });
    await money.makePlan('yearly', { price: usd('100'), included: usd('120'), interval: 'year' });
    await money.makePlan('free', { price: usd('0'), included: usd('1') });
    await money.makePlan('secret', { isOffered: false });
    return new PlanStage(money);
  }

  async order(customer: Customer, order: PlanOrder): Promise<OrderResult> {
    return this.money.subscriptions.order(order, { accountId: customer.accountId, nowMs: this.money.nowMs, paysBy: 'balance' });
  }

  async subscribe(customer: Customer, planId: string): Promise<OrderResult> {
    return this.order(customer, { type: 'subscribe', planId });
  }

  async planOf({ accountId }: Customer): Promise<Subscription | undefined> {
    return this.money.subscriptions.find(accountId);
  }

  /** Creates a customer with money of their own. */
  async makeRich(amount = '100'): Promise<Customer> {
    return this.money.makeCustomer(usd(amount));
  }

  /** Moves to noon of a day and runs one turn of the clock. */
  async moveTo(year: number, month: number, day: number): Promise<void> {
    this.money.nowMs = Date.UTC(year, month - 1, day, 12);
    await this.money.clock.turn(this.money.nowMs);
  }
}

export function dateOf(ms: number | undefined): string {
  return new Date(ms ?? 0).toISOString().slice(0, 10);
}

/** Sets up a stage for a group of tests. Each test starts on the same day and leaves the ledger sound. */
export function onPlanStage(driver: LedgerDriver, begin: (plans: PlanStage) => void): void {
  let plans: PlanStage;
  beforeAll(async () => {
    plans = await PlanStage.open(driver);
    begin(plans);
  });
  beforeEach(() => {
    plans.money.nowMs = MARCH_31;
  });
  afterEach(() => plans.money.books.expectSound());
  afterAll(() => plans.money.close());
}
