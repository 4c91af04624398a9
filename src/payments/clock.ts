import type { Kysely } from 'kysely';
import { PromoGuesses } from '../accounts/promo-guesses.ts';
import type { Tables } from '../database/tables.ts';
import { DAY_MS, HOUR_MS } from '../durations.ts';
import { AutoTopUps } from './auto-top-up.ts';
import type { PaymentDesk } from './desk.ts';
import { forgetCustomers, type KeptCustomer } from './forget-customers.ts';
import { runEach } from './run-each.ts';
import { Renewals } from './renewals.ts';

const PAYMENTS_PER_TURN = 50;
/** Deletes run rarely, so that most turns write nothing. */
const PRUNE_INTERVAL_MS = HOUR_MS;
const EVENTS_KEPT_MS = 90 * DAY_MS;

/** Background work on incoming money: follows payments, charges cards, renews plans and deletes customers of closed accounts. */
export class MoneyClock {
  readonly #database: Kysely<Tables>;
  readonly #desk: PaymentDesk;
  readonly #autoTopUps: AutoTopUps;
  readonly #renewals: Renewals;
  readonly #guesses: PromoGuesses;
  readonly #onKept: (customer: KeptCustomer) => void;
  #nextPruneMs = 0;

  /** Calls `onKept` for customers of closed accounts that a provider did not delete; they are retried. */
  constructor(database: Kysely<Tables>, desk: PaymentDesk, onKept: (customer: KeptCustomer) => void = () => undefined) {
    this.#database = database;
    this.#desk = desk;
    this.#autoTopUps = new AutoTopUps(database, desk);
    this.#renewals = new Renewals(database, desk);
    this.#guesses = new PromoGuesses(database);
    this.#onKept = onKept;
  }

  /** Runs one turn. Any number of processes may run at the same time. A payment that fails does not hold up the others. */
  async turn(nowMs: number): Promise<void> {
    const works = [
      () => this.#poll(nowMs),
      () => this.#autoTopUps.turn(nowMs),
      () => this.#renewals.turn(nowMs),
      () => this.#forgetCustomers(nowMs),
      () => this.#prune(nowMs),
    ];
    await runEach(works, (work) => work());
  }

  async #poll(nowMs: number): Promise<void> {
    await runEach(await this.#desk.unfinished(nowMs, PAYMENTS_PER_TURN), (payment) => this.#desk.poll(payment, nowMs));
  }

  async #forgetCustomers(nowMs: number): Promise<void> {
    for (const customer of await forgetCustomers(this.#database, this.#desk, nowMs)) this.#onKept(customer);
  }

  async #prune(nowMs: number): Promise<void> {
    if (nowMs < this.#nextPruneMs) return;
    this.#nextPruneMs = nowMs + PRUNE_INTERVAL_MS;
    await this.#guesses.prune(nowMs);
    // Stripe does not resend events this old. Refused and failed events are kept for the operator.
    await this.#database
      .deleteFrom('webhook_events')
      .where('created_at', '<', BigInt(nowMs - EVENTS_KEPT_MS))
      .where('outcome', 'in', ['applied', 'ignored'])
      .execute();
  }
}
