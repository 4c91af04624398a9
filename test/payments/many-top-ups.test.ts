import { expect, test } from 'bun:test';
import type { Kysely } from 'kysely';
import { partsOf } from '../../src/database/parts-of.ts';
import type { Tables } from '../../src/database/tables.ts';
import { asNanos } from '../../src/ledger/money.ts';
import { AutoTopUps } from '../../src/payments/auto-top-up.ts';
import { PaymentDesk } from '../../src/payments/desk.ts';
import { eachStore } from '../database/each-store.ts';
import { turnsDuring } from '../turns-during.ts';

const ACCOUNTS = 1100;
/** As many as the accounts that one turn looks at. */
const LOOKED_AT = 20_000;
const RULES = { minimum: asNanos(1n), maximum: asNanos(1n), presets: [], graceMs: 0 };

function idOf(n: number): string {
  return `acct_${String(n).padStart(6, '0')}`;
}

interface Enrolled {
  readonly from: number;
  readonly to: number;
  readonly isLow: (n: number) => boolean;
  readonly monthlyCap: number;
}

/** Adds accounts with automatic top-ups. A cap of one is below the amount: who is found is marked instead of charged. */
async function enrol(kysely: Kysely<Tables>, { from, to, isLow, monthlyCap }: Enrolled): Promise<void> {
  const numbers = Array.from({ length: to - from }, (_, index) => from + index);
  for (const part of partsOf(numbers)) {
    const account = { status: 'active', is_admin: 0, created_at: 0 } as const;
    const accounts = part.map((n) => ({ ...account, id: idOf(n), email: `${idOf(n)}@example.com` }));
    await kysely.insertInto('accounts').values(accounts).execute();
    const wallets = part.map((n) => ({ account_id: idOf(n), credits_posted: isLow(n) ? 0 : 100, debits_posted: 0, debits_pending: 0 }));
    await kysely.insertInto('wallets').values(wallets).execute();
    const terms = { is_on: 1, threshold: 10, amount: 100, monthly_cap: monthlyCap, method_ref: 'pm_1', reason: '', updated_at: 0 };
    await kysely
      .insertInto('auto_top_ups')
      .values(part.map((n) => ({ ...terms, account_id: idOf(n) })))
      .execute();
  }
}

async function readMarked(kysely: Kysely<Tables>): Promise<string[]> {
  const rows = await kysely.selectFrom('auto_top_ups').select('account_id').where('reason', '<>', '').orderBy('account_id').execute();
  return rows.map((row) => row.account_id);
}

eachStore((database) => {
  // Without Stripe, nobody's card is charged.
  const open = (): AutoTopUps => new AutoTopUps(database().kysely, new PaymentDesk(database().kysely, [], RULES));

  test('automatic top-ups of many accounts are looked through in steps, and none is missed', async () => {
    const { kysely } = database();
    // Of the first, the second and the last step.
    const low = [0, 400, ACCOUNTS - 1];
    await enrol(kysely, { from: 0, to: ACCOUNTS, isLow: (n) => low.includes(n), monthlyCap: 1 });
    const turns = await turnsDuring(() => open().turn(Date.now()));
    expect(turns).toBeGreaterThanOrEqual(4);
    expect(await readMarked(kysely)).toEqual(low.map(idOf));
  });

  test('accounts that stay low, however many, do not keep the others from being looked at', async () => {
    const { kysely } = database();
    await kysely.deleteFrom('auto_top_ups').execute();
    await enrol(kysely, { from: ACCOUNTS, to: ACCOUNTS + 300, isLow: () => true, monthlyCap: 1000 });
    await enrol(kysely, { from: ACCOUNTS + 300, to: ACCOUNTS + 301, isLow: () => true, monthlyCap: 1 });
    const topUps = open();
    for (let turn = 0; turn < 3; turn += 1) await topUps.turn(Date.now());
    expect(await readMarked(kysely)).toEqual([idOf(ACCOUNTS + 300)]);
  });

  test('a turn looks at a limited number of accounts, and the next one at those after them', async () => {
    const { kysely } = database();
    await kysely.deleteFrom('auto_top_ups').execute();
    const from = ACCOUNTS + 301;
    const low = [from, from + LOOKED_AT];
    await enrol(kysely, { from, to: from + LOOKED_AT + 1, isLow: (n) => low.includes(n), monthlyCap: 1 });
    const topUps = open();
    await topUps.turn(Date.now());
    expect(await readMarked(kysely)).toEqual([idOf(from)]);
    await topUps.turn(Date.now());
    expect(await readMarked(kysely)).toEqual(low.map(idOf));
    // Then it begins anew.
    await kysely.updateTable('auto_top_ups').set({ reason: '' }).execute();
    await topUps.turn(Date.now());
    expect(await readMarked(kysely)).toEqual([idOf(from)]);
  }, 60_000);
});
