import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';

/** Customer ids of accounts at a payment provider. */
export interface Customers {
  find(accountId: string): Promise<string | undefined>;
  /** Stores the customer id unless one is stored, or replaces `gone`. Returns the stored id: the first of several writers wins. */
  keep(accountId: string, customerRef: string, gone?: string): Promise<string>;
}

/** Opens the customer ids of one provider in the database. */
export function openCustomers(database: Kysely<Tables>, provider: string): Customers {
  const find = async (accountId: string): Promise<string | undefined> => {
    const row = await database
      .selectFrom('payment_customers')
      .select('customer_ref')
      .where('account_id', '=', accountId)
      .where('provider', '=', provider)
      .executeTakeFirst();
    return row?.customer_ref;
  };
  return {
    find,
    keep: async (accountId, customerRef, gone = '') => {
      await database
        .insertInto('payment_customers')
        .values({ account_id: accountId, provider, customer_ref: customerRef })
        .onConflict((conflict) =>
          conflict
            .columns(['account_id', 'provider'])
            .doUpdateSet({ customer_ref: customerRef })
            .where('payment_customers.customer_ref', '=', gone),
        )
        .execute();
      return (await find(accountId)) ?? customerRef;
    },
  };
}
