import { expect, test } from 'bun:test';
import { Accounts } from '../../src/accounts/accounts.ts';
import { planSchema } from '../../src/accounts/plan-settings.ts';
import { Plans } from '../../src/accounts/plans.ts';
import { Subscriptions } from '../../src/accounts/subscriptions.ts';
import { asNanos } from '../../src/ledger/money.ts';
import { PaymentDesk } from '../../src/payments/desk.ts';
import { Renewals } from '../../src/payments/renewals.ts';
import { renewalIdOf } from '../../src/payments/still-wanted.ts';
import { eachStore } from '../database/each-store.ts';
import { turnsDuring } from '../turns-during.ts';

/** More than one step of renewals. */
const WAITING = 120;
const MONTH_MS = 31 * 86_400_000;
const RULES = { minimum: asNanos(1n), maximum: asNanos(1n), presets: [], graceMs: MONTH_MS };

eachStore((database) => {
  test('renewals whose payment has no result yet, however many, do not hold up the others', async () => {
    const { kysely } = database();
    await new Plans(kysely).save(planSchema.parse({ id: 'pro', name: 'Pro', price_usd: '5', included_usd: '5' }), 'command');
    const subscriptions = new Subscriptions(kysely);
    const startMs = Date.now() - 2 * MONTH_MS;
    const subscribe = async (n: number): Promise<string> => {
      const accountId = (await new Accounts(kysely).create(`user${n}@example.com`, false))?.id ?? '';
      // The later ones are due later.
      await subscriptions.assign(accountId, 'pro', { nowMs: startMs + n * 1000 });
      await kysely.updateTable('subscriptions').set({ pays_by: 'card' }).where('account_id', '=', accountId).execute();
      return accountId;
    };
    for (let n = 0; n < WAITING; n += 1) {
      const accountId = await subscribe(n);
      const subscription = await subscriptions.find(accountId);
      const terms = { provider: 'stripe', purpose: 'plan', status: 'open', amount: 5, charge_cents: 5 } as const;
      const times = { created_at: Date.now(), asked_at: Date.now() };
      const id = subscription === undefined ? '' : renewalIdOf(subscription);
      await kysely
        .insertInto('payments')
        .values({ id, account_id: accountId, ...terms, ...times })
        .execute();
    }
    const last = await subscribe(WAITING);
    expect(await turnsDuring(() => subscriptions.due('card', Date.now(), WAITING))).toBeGreaterThanOrEqual(WAITING);
    const renewals = new Renewals(kysely, new PaymentDesk(kysely, [], RULES));
    for (let turn = 0; turn < 3; turn += 1) await renewals.turn('card', Date.now());
    // Without Stripe, its card cannot be charged, which shows that its turn has come.
    expect((await subscriptions.find(last))?.reason).toBe('cards cannot be charged here any more');
    const rows = await kysely.selectFrom('subscriptions').select('status').where('account_id', '<>', last).execute();
    expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(['active']));
  }, 60_000);
});
