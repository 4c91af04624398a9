import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { PaymentDesk } from '../../../src/payments/desk.ts';
import { ManualDriver } from '../../../src/payments/manual.ts';
import type { DriverAnswer } from '../../../src/payments/payments.ts';
import { listProblems } from '../../../src/payments/problems.ts';
import type { LedgerDriver } from '../ledger-driver.ts';
import { DAY_MS, MoneyStage, usd, type Customer } from './stage.ts';

/** Payments: started, made, refused, forged and lost on the way. */
export function testTopUps(driver: LedgerDriver): void {
  let stage: MoneyStage;
  beforeAll(async () => {
    stage = await MoneyStage.open(driver);
  });
  afterEach(() => stage.books.expectSound());
  afterAll(() => stage.close());

  const send = (body: string, headers: Record<string, string>) =>
    stage.webhook(new Request('http://gate.test/webhooks/stripe', { method: 'POST', body, headers }));
  const paidEvent = async (customer: Customer) => {
    const payment = await stage.begin(customer);
    const from = stage.stripe.books.events.length;
    stage.stripe.books.pay(stage.stripe.books.sessionOf(payment.id));
    return stage.stripe.books.events.slice(from)[0] ?? {};
  };

  describe('a top-up', () => {
    test('is charged exactly the requested amount, and credited when Stripe reports it paid', async () => {
      const customer = await stage.makeCustomer();
      const payment = await stage.begin(customer, '12.34');
      expect(payment).toMatchObject({ status: 'open', charge_cents: 1234n, amount: usd('12.34') });
      expect(payment.address).toStartWith('https://checkout.example.com/');
      const session = stage.stripe.books.sessions.get(payment.session_ref ?? '');
      expect(session).toMatchObject({ amount_total: 1234, currency: 'usd', adaptive_pricing: { enabled: 'false' } });
      expect(await stage.balance(customer)).toBe(0n);
      await stage.pay(payment.id, {});
      expect(await stage.balance(customer)).toBe(usd('12.34'));
      expect(await stage.left(customer)).toEqual({ paid: usd('12.34') });
      expect(await stage.desk.require(payment.id)).toMatchObject({ status: 'paid' });
    });

    test.each([
      ['4.99', 'below_minimum'],
      ['500.01', 'above_maximum'],
      ['10.001', 'not_whole_cents'],
    ] as const)('of $%s is refused as %s, without calling Stripe', async (amount, why) => {
      const asked = stage.stripe.requests.length;
      expect(await stage.start(await stage.makeCustomer(), amount)).toEqual({ type: 'refused', why });
      expect(stage.stripe.requests.length).toBe(asked);
    });

    test('is refused after ten attempts without a payment', async () => {
      const customer = await stage.makeCustomer();
      for (let tries = 0; tries < 10; tries += 1) await stage.begin(customer);
      expect(await stage.start(customer)).toEqual({ type: 'refused', why: 'too_many_tries' });
    });

    test('is refused after ten of many concurrent attempts', async () => {
      const customer = await stage.makeCustomer();
      const asked = stage.stripe.requests.length;
      const results = await Promise.all(Array.from({ length: 30 }, () => stage.start(customer)));
      expect(results.filter(({ type }) => type === 'started')).toHaveLength(10);
      const sessions = stage.stripe.requests.slice(asked).filter((request) => request === 'POST /v1/checkout/sessions');
      expect(sessions).toHaveLength(10);
    });

    test('by bank transfer has its reference even if the process ends as soon as it is recorded', async () => {
      class Interrupted extends ManualDriver {
        override begin(): Promise<DriverAnswer> {
          return Promise.reject(new Error('the process ended'));
        }
      }
      const customer = await stage.makeCustomer();
      const desk = new PaymentDesk(stage.books.kysely, [new Interrupted()], stage.desk.rules);
      const order = { payer: customer, amount: usd('20'), provider: 'manual', nowMs: stage.nowMs } as const;
      await expect(desk.start(order)).rejects.toThrow('the process ended');
      const payments = stage.books.kysely.selectFrom('payments').selectAll().where('account_id', '=', customer.accountId);
      const payment = await payments.executeTakeFirstOrThrow();
      expect(payment.status).toBe('open');
      expect(payment.provider_ref).toMatch(/^TG-.{5}-.{5}$/u);
      expect((await stage.desk.findByReference(payment.provider_ref ?? ''))?.id).toBe(payment.id);
      expect(await stage.desk.confirm(payment, 2000, stage.nowMs, 'test')).toEqual({ type: 'credited' });
      expect(await stage.balance(customer)).toBe(usd('20'));
    });

    test('pays a debt first', async () => {
      const customer = await stage.makeCustomer();
      await stage.spend(customer, '3');
      await stage.topUp(customer, '20');
      expect(await stage.balance(customer)).toBe(usd('17'));
      expect(await stage.left(customer)).toEqual({ paid: usd('17') });
    });

    test('started without an answer is the same one when requested again', async () => {
      const customer = await stage.makeCustomer();
      await stage.topUp(customer);
      stage.stripe.loseAnswers(1);
      const payment = await stage.begin(customer);
      expect(payment).toMatchObject({ status: 'unknown', session_ref: null });
      const sessions = stage.stripe.books.sessions.size;
      const asked = await stage.desk.poll(payment, stage.nowMs);
      expect(asked).toMatchObject({ status: 'open', session_ref: stage.stripe.books.sessionOf(payment.id) });
      expect(stage.stripe.books.sessions.size).toBe(sessions);
    });

    test('missed by the webhook is credited by the clock, once', async () => {
      const customer = await stage.makeCustomer();
      const payment = await stage.begin(customer);
      const from = stage.stripe.books.events.length;
      stage.stripe.books.pay(stage.stripe.books.sessionOf(payment.id));
      stage.nowMs += 60_000;
      await stage.clock.turn(stage.nowMs);
      expect(await stage.balance(customer)).toBe(usd('20'));
      await stage.deliverNew(from);
      expect(await stage.balance(customer)).toBe(usd('20'));
    });

    test('that cannot be followed up holds up neither other payments nor automatic top-ups', async () => {
      const [first, second] = [await stage.makeCustomer(), await stage.makeCustomer()];
      const holder = await stage.makeCardHolder('6');
      const terms = { threshold: usd('5'), amount: usd('10'), monthlyCap: usd('20'), methodRef: holder.card };
      await stage.autoTopUps.switchOn(holder.accountId, terms, stage.nowMs);
      await stage.spend(holder, '2');
      const broken = await stage.begin(first);
      stage.nowMs += 1;
      const other = await stage.begin(second);
      await stage.books.kysely.updateTable('payments').set({ plan_order: 'not JSON' }).where('id', '=', broken.id).execute();
      for (const { id } of [broken, other]) stage.stripe.books.pay(stage.stripe.books.sessionOf(id));
      stage.nowMs += 60_000;
      expect(await stage.clock.turn(stage.nowMs).catch((error: unknown) => (error as Error).name)).toBe('SyntaxError');
      expect(await stage.balance(second)).toBe(usd('20'));
      expect(await stage.balance(holder)).toBe(usd('14'));
      await stage.books.kysely.updateTable('payments').set({ plan_order: null }).where('id', '=', broken.id).execute();
      await stage.clock.turn(stage.nowMs);
      expect(await stage.balance(first)).toBe(usd('20'));
    });

    test('that Stripe cannot process at the moment stays unknown and is not abandoned', async () => {
      const customer = await stage.makeCustomer();
      await stage.topUp(customer);
      for (const status of [500, 503, 429, 409]) {
        stage.stripe.failWith(status, 1);
        const payment = await stage.begin(customer);
        expect(payment.status).toBe('unknown');
        expect((await stage.desk.poll(payment, stage.nowMs)).status).toBe('open');
      }
    });

    test('for which Stripe refuses our key is not abandoned, and neither is a new one', async () => {
      const customer = await stage.makeCustomer();
      const open = await stage.begin(customer);
      for (const status of [401, 403, 404]) {
        stage.stripe.failWith(status, 1);
        expect((await stage.desk.poll(open, stage.nowMs)).status).toBe('open');
      }
      stage.stripe.failWith(401, 1);
      expect((await stage.begin(customer)).status).toBe('unknown');
    });

    test('not paid in time is over, but is still credited if it is paid after all', async () => {
      const customer = await stage.makeCustomer();
      const payment = await stage.begin(customer);
      const from = stage.stripe.books.events.length;
      stage.stripe.books.expire(payment.session_ref ?? '');
      await stage.deliverNew(from);
      expect((await stage.desk.require(payment.id)).status).toBe('expired');
      await stage.pay(payment.id, {});
      expect((await stage.desk.require(payment.id)).status).toBe('paid');
      expect(await stage.balance(customer)).toBe(usd('20'));
    });

    test.each([
      ['reported by its events', (_id: string, from: number) => stage.deliverNew(from)],
      ['found by asking', async (id: string) => stage.desk.poll(await stage.desk.require(id), stage.nowMs)],
    ] as const)('by a bank debit that does not come is over: %s', async (_, learn) => {
      const customer = await stage.makeCustomer();
      const { id, session_ref: session } = await stage.begin(customer);
      const from = stage.stripe.books.events.length;
      stage.stripe.books.payInVain(session ?? '');
      await learn(id, from);
      expect((await stage.desk.require(id)).status).toBe('failed');
      expect(await stage.balance(customer)).toBe(0n);
    });

    test('for a customer deleted at Stripe creates a new one, which later top-ups use', async () => {
      const customer = await stage.makeCardHolder();
      stage.stripe.books.answer('DELETE', `/v1/customers/${[...stage.stripe.books.customers.keys()].at(-1)}`, {});
      expect(await stage.cardsOf(customer)).toEqual([]);
      await Promise.all([stage.topUp(customer), stage.topUp(customer)]);
      expect(await stage.balance(customer)).toBe(usd('60'));
      const made = [...stage.stripe.books.customers.values()].filter(({ email }) => email === customer.email);
      expect(made).toHaveLength(1);
    });

    test('has a receipt at Stripe', async () => {
      const payment = await stage.topUp(await stage.makeCustomer());
      expect(await stage.desk.driver('stripe')?.receiptUrl?.(payment.provider_ref ?? '')).toStartWith('https://pay.example.com/receipts/');
    });
  });

  describe('a payment that differs from the request', () => {
    test.each([
      ['another amount', { cents: 1 }, '1 cents were paid instead of 2000'],
      ['another currency', { currency: 'eur' }, 'it was paid in eur instead of usd'],
      ['another account', { metadata: { tollgate_account: 'acct_other' } }, 'it belongs to another account'],
      ['an unknown payment', { metadata: { tollgate_payment: 'pay_nobody' } }, 'there is no such payment here'],
    ])('with %s is not credited, and is kept for the operator', async (_, change, reason) => {
      const customer = await stage.makeCustomer();
      const payment = await stage.begin(customer);
      await stage.pay(payment.id, change);
      expect(await stage.balance(customer)).toBe(0n);
      const problems = await listProblems(stage.books.kysely, stage.nowMs, 50);
      expect(problems.map(({ explanation }) => explanation).filter((text) => text.endsWith(reason))).not.toBeEmpty();
    });

    test('in which one charge would pay for two is credited once', async () => {
      const [first, second] = [await stage.makeCustomer(), await stage.makeCustomer()];
      const paid = await stage.topUp(first);
      const other = await stage.begin(second);
      const from = stage.stripe.books.events.length;
      stage.stripe.books.pay(stage.stripe.books.sessionOf(other.id));
      const [event] = stage.stripe.books.events.slice(from);
      const copy = structuredClone(event ?? {}) as { data: { object: { id: string } } };
      copy.data.object.id = paid.provider_ref ?? '';
      expect(await stage.stripe.deliver({ ...copy, id: 'evt_copied' }, stage.webhook)).toBe(200);
      expect(await stage.balance(second)).toBe(0n);
      expect(await stage.balance(first)).toBe(usd('20'));
    });

    test('that was never paid is not credited by a completed session', async () => {
      const customer = await stage.makeCustomer();
      const payment = await stage.begin(customer);
      const object = { ...stage.stripe.books.sessions.get(payment.session_ref ?? ''), status: 'complete', payment_status: 'unpaid' };
      await stage.stripe.deliver(
        { id: 'evt_unpaid', object: 'event', type: 'checkout.session.completed', data: { object } },
        stage.webhook,
      );
      expect(await stage.balance(customer)).toBe(0n);
    });
  });

  describe('the webhook', () => {
    test.each([
      ['without a signature', async (body: string) => ({ body, headers: {} })],
      ['signed with an empty secret', async (body: string) => stage.stripe.sign(JSON.parse(body), ' ')],
      ['signed with another secret', async (body: string) => stage.stripe.sign(JSON.parse(body), 'whsec_forged_by_somebody_else')],
      ['signed long ago', async (body: string) => stage.stripe.sign(JSON.parse(body), stage.stripe.secret, Date.now() - 3_600_000)],
      [
        'changed after it was signed',
        async (body: string) => ({ ...(await stage.stripe.sign(JSON.parse(body))), body: body.replace('"usd"', '"uSd"') }),
      ],
    ] as const)('credits nothing for an event %s', async (_, forge) => {
      const customer = await stage.makeCustomer();
      const forged = await forge(JSON.stringify(await paidEvent(customer)));
      expect((await send(forged.body, forged.headers)).status).toBe(400);
      expect(await stage.balance(customer)).toBe(0n);
    });

    test('rejects a body that is too large or not an event, without reading on', async () => {
      expect((await send('x'.repeat(1_000_001), {})).status).toBe(400);
      const { headers } = await stage.stripe.sign({});
      expect((await send('not json', headers)).status).toBe(400);
      expect((await stage.webhook(new Request('http://gate.test/webhooks/stripe'))).status).toBe(405);
    });

    test('accepts the same event once, even if it arrives ten times at once', async () => {
      const customer = await stage.makeCustomer();
      const event = await paidEvent(customer);
      const answers = await Promise.all(Array.from({ length: 10 }, () => stage.stripe.deliver(event, stage.webhook)));
      expect(new Set(answers)).toEqual(new Set([200]));
      expect(await stage.balance(customer)).toBe(usd('20'));
    });
  });

  describe('a bank transfer', () => {
    test('is credited when the operator confirms it, once and only with its amount', async () => {
      const customer = await stage.makeCustomer();
      const payment = await stage.begin(customer, '50', { provider: 'manual' });
      expect(payment).toMatchObject({ status: 'open', provider: 'manual' });
      expect(payment.provider_ref).toMatch(/^TG-[2-9A-Z]{5}-[2-9A-Z]{5}$/u);
      await stage.clock.turn(stage.nowMs + DAY_MS);
      const reference = payment.provider_ref ?? '';
      // Banks print references in their own way.
      for (const printed of [` ${reference.toLowerCase()} `, reference.replaceAll('-', ''), reference.replaceAll('-', ' ')])
        expect(await stage.desk.findByReference(printed)).toMatchObject({ id: payment.id });
      expect(await stage.desk.confirm(payment, 4000, stage.nowMs, 'test')).toEqual({
        type: 'refused',
        reason: '4000 cents were paid instead of 5000',
      });
      expect(await stage.desk.confirm(payment, 5000, stage.nowMs, 'test')).toEqual({ type: 'credited' });
      expect(await stage.desk.confirm(payment, 5000, stage.nowMs, 'test')).toEqual({ type: 'repeated' });
      expect(await stage.balance(customer)).toBe(usd('50'));
    });

    test('that will not arrive is refused with a reason', async () => {
      const customer = await stage.makeCustomer();
      const payment = await stage.begin(customer, '50', { provider: 'manual' });
      expect(await stage.desk.refuse(payment, 'it never came', 'test')).toBe(true);
      expect(await stage.desk.refuse(payment, 'again', 'test')).toBe(false);
      expect(await stage.desk.require(payment.id)).toMatchObject({ status: 'failed', reason: 'it never came' });
    });
  });
}
