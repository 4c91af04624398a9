import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import type { PromoBenefit } from '../../../src/accounts/promo-codes.ts';
import type { LedgerDriver } from '../ledger-driver.ts';
import { DAY_MS, MoneyStage, usd } from './stage.ts';

const CREDIT = { kind: 'credit', amount: usd('5') } as const satisfies PromoBenefit;

/** Promo codes: what they give, whom they refuse, and races for the last use. */
export function testPromoCodes(driver: LedgerDriver): void {
  let stage: MoneyStage;
  beforeAll(async () => {
    stage = await MoneyStage.open(driver);
    await stage.makePlan('gift', { isOffered: false });
  });
  afterEach(() => stage.books.expectSound());
  afterAll(() => stage.close());

  test('a code gives its credit once, however it is written', async () => {
    const customer = await stage.makeCustomer();
    const code = await stage.makeCode(CREDIT);
    expect(code).toMatch(/^TEST(?:-[2-9A-Z]{5}){3}$/u);
    expect(await stage.redeem(customer, ` ${code.toLowerCase().replaceAll('-', ' ')} `)).toBe('redeemed');
    expect(await stage.left(customer)).toEqual({ promo: usd('5') });
    expect(await stage.redeem(customer, code)).toBe('already_used');
    // Word processors and mail programs write longer dashes, and add characters that nobody sees.
    expect(await stage.redeem(customer, `\u200B${code.replaceAll('-', '–')}`)).toBe('already_used');
    expect(await stage.redeem(await stage.makeCustomer(), code)).toBe('used_up');
  });

  test('the code itself is not stored', async () => {
    const code = await stage.makeCode(CREDIT);
    const rows = JSON.stringify(
      await stage.books.kysely.selectFrom('promo_codes').select(['id', 'code_hash', 'shown', 'campaign']).execute(),
    );
    expect(rows).not.toContain(code);
    expect(rows).not.toContain(code.replaceAll('-', ''));
  });

  test('its credit expires when the code says so', async () => {
    const customer = await stage.makeCustomer();
    await stage.redeem(customer, await stage.makeCode({ ...CREDIT, creditDays: 30 }));
    const grant = await stage.books.kysely.selectFrom('grants').selectAll().where('account_id', '=', customer.accountId).executeTakeFirst();
    expect(grant).toMatchObject({ kind: 'promo', expires_at: BigInt(stage.nowMs + 30 * DAY_MS) });
  });

  test('every refusal says what is wrong', async () => {
    const customer = await stage.makeCustomer();
    const at = (days: number): number => stage.nowMs + days * DAY_MS;
    const cases = [
      [await stage.makeCode(CREDIT, { validFromMs: at(1) }), 'not_yet_valid'],
      [await stage.makeCode(CREDIT, { validToMs: at(-1) }), 'expired'],
      [await stage.makeCode(CREDIT, { minimumTopUp: usd('10') }), 'needs_top_up'],
      ['NOT-A-CODE-OF-OURS', 'unknown'],
      ['?', 'unknown'],
    ] as const;
    for (const [code, why] of cases) expect(await stage.redeem(customer, code)).toBe(why);
    const stopped = await stage.makeCode(CREDIT, { campaign: 'stopped' });
    expect(await stage.promos.stop({ campaign: 'stopped' })).toBe(1);
    expect(await stage.redeem(customer, stopped)).toBe('stopped');
    expect(await stage.balance(customer)).toBe(0n);
  });

  test('a code for new accounts refuses old ones', async () => {
    const customer = await stage.makeCustomer();
    const code = await stage.makeCode(CREDIT, { newAccountDays: 7, usesMax: 5 });
    stage.nowMs += 8 * DAY_MS;
    expect(await stage.redeem(customer, code)).toBe('new_accounts_only');
    stage.nowMs -= 8 * DAY_MS;
    expect(await stage.redeem(customer, code)).toBe('redeemed');
  });

  test('a code that requires a top-up is accepted after one, but not if it was refunded', async () => {
    const customer = await stage.makeCustomer();
    const code = await stage.makeCode(CREDIT, { minimumTopUp: usd('10') });
    const payment = await stage.topUp(customer, '20');
    const from = stage.stripe.books.events.length;
    stage.stripe.books.refund(payment.provider_ref ?? '', 1500);
    await stage.deliverNew(from);
    expect(await stage.redeem(customer, code)).toBe('needs_top_up');
    await stage.topUp(customer, '5');
    expect(await stage.redeem(customer, code)).toBe('redeemed');
  });

  test('codes of a campaign count together for one account, and for one mailbox', async () => {
    const [first, second, third] = [
      await stage.makeCode(CREDIT, { campaign: 'spring', perAccount: 2 }),
      await stage.makeCode(CREDIT, { campaign: 'spring', perAccount: 2 }),
      await stage.makeCode(CREDIT, { campaign: 'spring', perAccount: 2 }),
    ];
    const customer = await stage.makeCustomer(0n, 'ann.lee@gmail.com');
    const again = await stage.makeCustomer(0n, 'AnnLee+2@googlemail.com');
    expect(await stage.redeem(customer, first)).toBe('redeemed');
    expect(await stage.redeem(again, second)).toBe('redeemed');
    expect(await stage.redeem(customer, third)).toBe('already_used');
    expect(await stage.redeem(again, third)).toBe('already_used');
  });

  test('a bonus waits for the next sufficiently large top-up, and is given once', async () => {
    const customer = await stage.makeCustomer();
    const code = await stage.makeCode({ kind: 'bonus', percent: 20, amount: usd('50') }, { minimumTopUp: usd('15') });
    expect(await stage.redeem(customer, code)).toBe('redeemed');
    expect(await stage.balance(customer)).toBe(0n);
    await stage.topUp(customer, '10');
    expect(await stage.left(customer)).toEqual({ paid: usd('10') });
    expect(await stage.topUp(customer, '40')).toMatchObject({ bonus: usd('8') });
    await stage.topUp(customer, '40');
    expect(await stage.left(customer)).toEqual({ paid: usd('90'), promo: usd('8') });
  });

  test('a bonus never exceeds the code’s maximum', async () => {
    const customer = await stage.makeCustomer();
    await stage.redeem(customer, await stage.makeCode({ kind: 'bonus', percent: 100, amount: usd('3') }));
    await stage.topUp(customer, '20');
    expect(await stage.left(customer)).toEqual({ paid: usd('20'), promo: usd('3') });
  });

  test('a plan given by a code ends after its periods, and no second plan is added on top', async () => {
    const customer = await stage.makeCustomer();
    const code = await stage.makeCode({ kind: 'plan', planId: 'gift', periods: 2 }, { usesMax: 2 });
    expect(await stage.redeem(customer, code)).toBe('redeemed');
    expect(await stage.subscriptions.find(customer.accountId)).toMatchObject({ plan: { id: 'gift' }, paysBy: 'nobody', periodsLeft: 2 });
    expect(await stage.redeem(customer, await stage.makeCode({ kind: 'plan', planId: 'gift', periods: 1 }))).toBe('has_plan');
    await stage.clock.turn(stage.nowMs + 32 * DAY_MS);
    expect(await stage.subscriptions.find(customer.accountId)).toMatchObject({ periodsLeft: 1 });
    await stage.clock.turn(stage.nowMs + 64 * DAY_MS);
    expect(await stage.subscriptions.find(customer.accountId)).toBeUndefined();
  });

  test('guessing is blocked by account and by address, and allowed again after an hour', async () => {
    const customer = await stage.makeCustomer();
    const code = await stage.makeCode(CREDIT, { usesMax: 10 });
    for (let tries = 0; tries < 10; tries += 1) expect(await stage.redeem(customer, `GUESS${tries}`, '2001:db8:1:2::1')).toBe('unknown');
    expect(await stage.redeem(customer, code)).toBe('too_many_tries');
    for (let account = 0; account < 2; account += 1) {
      const other = await stage.makeCustomer();
      for (let tries = 0; tries < 10; tries += 1) await stage.redeem(other, `GUESS${tries}`, '2001:db8:1:2::1');
    }
    // Another account, and another address of the same network.
    expect(await stage.redeem(await stage.makeCustomer(), code, '2001:db8:1:2:ffff::9')).toBe('too_many_tries');
    expect(await stage.redeem(await stage.makeCustomer(), code, '2001:db8:1:3::1')).toBe('redeemed');
    stage.nowMs += 3_600_001;
    expect(await stage.redeem(customer, code)).toBe('redeemed');
  });

  test('concurrent guesses are limited too, and a correct code does not count as a guess', async () => {
    const customer = await stage.makeCustomer();
    const guesses = Array.from({ length: 50 }, (_, index) => stage.redeem(customer, `GUESS${index}`, '192.0.2.7'));
    const results = await Promise.all(guesses);
    expect(results.filter((result) => result === 'unknown')).toHaveLength(10);
    expect(results.filter((result) => result === 'too_many_tries')).toHaveLength(40);
    const code = await stage.makeCode(CREDIT, { usesMax: 100 });
    for (let count = 0; count < 40; count += 1) expect(await stage.redeem(await stage.makeCustomer(), code, '192.0.2.7')).toBe('redeemed');
  });

  test('one of a hundred accounts that redeem a single-use code at once gets it', async () => {
    const code = await stage.makeCode(CREDIT);
    const customers = await Array.fromAsync({ length: 100 }, () => stage.makeCustomer());
    const results = await Promise.all(customers.map((customer) => stage.redeem(customer, code)));
    expect(results.filter((result) => result === 'redeemed')).toHaveLength(1);
    expect(results.filter((result) => result === 'used_up')).toHaveLength(99);
    const balances = await Array.fromAsync(customers, (customer) => stage.balance(customer));
    expect(balances.reduce((sum, balance) => sum + balance, 0n)).toBe(usd('5'));
  });

  test('one account that redeems a multi-use code a hundred times at once gets it once', async () => {
    const code = await stage.makeCode(CREDIT, { usesMax: 1000 });
    const customer = await stage.makeCustomer();
    const results = await Promise.all(Array.from({ length: 100 }, () => stage.redeem(customer, code)));
    expect(results.filter((result) => result === 'redeemed')).toHaveLength(1);
    expect(await stage.balance(customer)).toBe(usd('5'));
  });

  test('one mailbox with many accounts gets a campaign once, even if all try at once', async () => {
    const codes = await Promise.all(Array.from({ length: 10 }, () => stage.makeCode(CREDIT, { campaign: 'mailbox' })));
    const customers = await Promise.all(codes.map((_, index) => stage.makeCustomer(0n, `farmer+${index}@example.org`)));
    const results = await Promise.all(customers.map((customer, index) => stage.redeem(customer, codes[index] ?? '')));
    expect(results.filter((result) => result === 'redeemed')).toHaveLength(1);
    expect(results.filter((result) => result === 'already_used')).toHaveLength(9);
  });
}
