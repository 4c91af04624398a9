import { expect, test } from 'bun:test';
import { partsOf } from '../../src/database/parts-of.ts';
import { asNanos } from '../../src/ledger/money.ts';
import { AutoTopUps } from '../../src/payments/auto-top-up.ts';
import { PaymentDesk } from '../../src/payments/desk.ts';
import { eachStore } from '../database/each-store.ts';
import { turnsDuring } from '../turns-during.ts';

const ACCOUNTS = 1100;
/** Of the first, the second and the last step. */
const LOW: readonly number[] = [0, 400, ACCOUNTS - 1];
const RULES = { minimum: asNanos(1n), maximum: asNanos(1n), presets: [], graceMs: 0 };

eachStore((database) => {
  test('automatic top-ups of many accounts are looked through in steps, and none is missed', async () => {
    const { kysely } = database();
    const ids = Array.from({ length: ACCOUNTS }, (_, n) => `acct_${String(n).padStart(6, '0')}`);
    for (const part of partsOf(ids)) {
      const rest = { status: 'active', is_admin: 0, created_at: 0 } as const;
      await kysely
        .insertInto('accounts')
        .values(part.map((id) => ({ id, email: `${id}@example.com`, ...rest })))
        .execute();
      const wallets = part.map((id) => ({ account_id: id, credits_posted: LOW.includes(ids.indexOf(id)) ? 0 : 100 }));
      await kysely
        .insertInto('wallets')
        .values(wallets.map((wallet) => ({ ...wallet, debits_posted: 0, debits_pending: 0 })))
        .execute();
      // A cap below the amount: who is found is marked instead of charged.
      const terms = { is_on: 1, threshold: 10, amount: 100, monthly_cap: 1, method_ref: 'pm_1', reason: '', updated_at: 0 };
      await kysely
        .insertInto('auto_top_ups')
        .values(part.map((id) => ({ account_id: id, ...terms })))
        .execute();
    }
    const topUps = new AutoTopUps(kysely, new PaymentDesk(kysely, [], RULES));
    const turns = await turnsDuring(() => topUps.turn(Date.now()));
    expect(turns).toBeGreaterThanOrEqual(4);
    const marked = await kysely.selectFrom('auto_top_ups').select('account_id').where('reason', '<>', '').orderBy('account_id').execute();
    expect(marked.map((row) => row.account_id)).toEqual(LOW.map((n) => ids[n] ?? ''));
  });
});
