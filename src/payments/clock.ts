import type { Kysely } from 'kysely';
import { PromoGuesses } from '../accounts/promo-guesses.ts';
import type { Tables } from '../database/tables.ts';
import { DAY_MS } from '../durations.ts';
import { runEach } from '../run-each.ts';
import { AutoTopUps } from './auto-top-up.ts';
import type { PaymentDesk } from './desk.ts';
import { forgetCustomers, type KeptCustomer } from './forget-customers.ts';
import { CHARGES_AT_ONCE } from './payments.ts';
import { Renewals } from './renewals.ts';

const PAYMENTS_PER_TURN = 50;
const EVENTS_KEPT_MS = 90 * DAY_MS;

/**
 * Background work on incoming money. Each kind has a clock of its own, so that what waits for a payment provider does not hold up the rest.
 * Any number of processes may work at the same time.
 */
export class MoneyClock {
  readonly #database: Kysely<Tables>;
  readonly #desk: PaymentDesk;
  readonly #autoTopUps: AutoTopUps;
  readonly #renewals: Renewals;
  readonly #guesses: PromoGuesses;
  readonly #onKept: (customer: KeptCustomer) => void;

  /** Calls `onKept` for customers of closed accounts that a provider did not delete; they are retried. */
  constructor(database: Kysely<Tables>, desk: PaymentDesk, onKept: (customer: KeptCustomer) => void = () => undefined) {
    this.#database = database;
    this.#desk = desk;
    this.#autoTopUps = new AutoTopUps(database, desk);
    this.#renewals = new Renewals(database, desk);
    this.#guesses = new PromoGuesses(database);
    this.#onKept = onKept;
  }

  /** Asks providers about payments without a result. */
  async followUp(nowMs: number): Promise<void> {
    await runEach(await this.#desk.unfinished(nowMs, PAYMENTS_PER_TURN), (payment) => this.#desk.poll(payment, nowMs), CHARGES_AT_ONCE);
  }

  /** Tops up automatically. */
  async topUp(nowMs: number): Promise<void> {
    await this.#autoTopUps.turn(nowMs);
  }

  /** Renews or ends plans: those paid by card, or all others. */
  async renew(kind: 'card' | 'balance', nowMs: number): Promise<void> {
    await this.#renewals.turn(kind, nowMs);
  }

  /** Has providers delete the customers of closed accounts. */
  async forgetCustomers(nowMs: number): Promise<void> {
    for (const customer of await forgetCustomers(this.#database, this.#desk, nowMs)) this.#onKept(customer);
  }

  /** Deletes what is no longer needed. */
  async prune(nowMs: number): Promise<void> {
    await this.#guesses.prune(nowMs);
    // Stripe does not resend events this old. Refused and failed events are kept for the operator.
    await this.#database
      .deleteFrom('webhook_events')
      .where('created_at', '<', BigInt(nowMs - EVENTS_KEPT_MS))
      .where('outcome', 'in', ['applied', 'ignored'])
      .execute();
  }
}
