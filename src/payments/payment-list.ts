import type { Kysely, Selectable } from 'kysely';
import { readAudit, type RecordedEntry } from '../accounts/audit.ts';
import { findAccountId } from '../accounts/owners.ts';
import { readPage, type PageOf, type PageRequest } from '../database/pages.ts';
import type { Tables } from '../database/tables.ts';
import type { PaymentRow } from './payments.ts';
import { readReference } from './manual.ts';

/** Which payments to read. An undefined field matches everything. */
export interface PaymentFilter {
  readonly status?: PaymentRow['status'] | undefined;
  readonly provider?: string | undefined;
  /** The address or the id of an account. */
  readonly account?: string | undefined;
  /** The provider's id of the payment or its session, the reference of a bank transfer, or our own id. */
  readonly reference?: string | undefined;
}

/** A payment with the address of its account. */
export type ListedPayment = PaymentRow & { readonly email: string | null };
/** A stored event of a provider. */
export type PaymentEvent = Selectable<Tables['webhook_events']>;
/** A refund or dispute of a payment. */
export type PaymentReversal = Selectable<Tables['payment_reversals']>;

const ROWS_MAX = 50;

/** Lists the payments of all accounts and their events, newest first, for operators. */
export class PaymentList {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  async read({ status, provider, account, reference }: PaymentFilter, page: PageRequest): Promise<PageOf<ListedPayment>> {
    let query = this.#withAddress();
    if (status !== undefined) query = query.where('payments.status', '=', status);
    if (provider !== undefined) query = query.where('payments.provider', '=', provider);
    if (account !== undefined) query = query.where('payments.account_id', '=', (await findAccountId(this.#database, account)) ?? '');
    if (reference !== undefined)
      query = query.where((where) =>
        where.or([
          where('payments.provider_ref', 'in', [reference, readReference(reference)]),
          where('payments.session_ref', '=', reference),
          where('payments.id', '=', reference),
        ]),
      );
    return readPage(query, 'payments', 'id', page);
  }

  async readEvents(outcome: PaymentEvent['outcome'] | undefined, page: PageRequest): Promise<PageOf<PaymentEvent>> {
    let query = this.#database.selectFrom('webhook_events').selectAll();
    if (outcome !== undefined) query = query.where('outcome', '=', outcome);
    return readPage(query, 'webhook_events', 'event_id', page);
  }

  async find(id: string): Promise<ListedPayment | undefined> {
    return this.#withAddress().where('payments.id', '=', id).executeTakeFirst();
  }

  /** Returns the history of a payment: its provider's events, refunds and disputes, and actions of operators. */
  async readLife({
    id,
    provider_ref: ref,
  }: PaymentRow): Promise<{ events: PaymentEvent[]; reversals: PaymentReversal[]; entries: RecordedEntry[] }> {
    const events = this.#database.selectFrom('webhook_events').selectAll().where('payment_id', '=', id).orderBy('created_at');
    const reversals = this.#database.selectFrom('payment_reversals').selectAll().where('provider_ref', '=', ref).orderBy('created_at');
    return {
      events: await events.limit(ROWS_MAX).execute(),
      reversals: await reversals.limit(ROWS_MAX).execute(),
      entries: await readAudit(this.#database, id, ROWS_MAX),
    };
  }

  #withAddress() {
    return this.#database
      .selectFrom('payments')
      .leftJoin('accounts', 'accounts.id', 'payments.account_id')
      .selectAll('payments')
      .select('accounts.email');
  }
}
