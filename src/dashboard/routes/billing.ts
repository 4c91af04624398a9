import { Hono } from 'hono';
import { z } from 'zod';
import { redeem } from '../../accounts/redeem.ts';
import { HOUR_MS } from '../../durations.ts';
import { clientAddress, parseNetworks } from '../../http/client-address.ts';
import { formatUsd } from '../../ledger/money.ts';
import type { PromoBenefit } from '../../accounts/promo-codes.ts';
import { ApiError, TooManyError } from '../api-error.ts';
import { BillingDesk } from './billing-desk.ts';
import { describePayment } from './describe-payment.ts';
import { autoTopUpMessage, redeemMessage, startMessage } from './billing-messages.ts';
import type { Env, Dependencies, Person } from '../dependencies.ts';
import { usdShape, validate } from '../validate.ts';

const usd = usdShape('must be an amount such as 25 or 12.50');
const topUpSchema = z.strictObject({ amountUsd: usd, provider: z.enum(['stripe', 'manual']), savesCard: z.boolean().default(false) });
const redeemSchema = z.strictObject({ code: z.string().min(1).max(200) });
const autoTopUpSchema = z.discriminatedUnion('isOn', [
  z.strictObject({ isOn: z.literal(false) }),
  z.strictObject({ isOn: z.literal(true), thresholdUsd: usd, amountUsd: usd, monthlyCapUsd: usd, methodRef: z.string().min(1).max(200) }),
]);

/** The window in which attempts to pay or to redeem codes are counted. */
const ATTEMPTS_WINDOW_MS = HOUR_MS;

/** The account's balance, its payments, and the ways to add money. */
export function billingRoutes({ database: { kysely }, money, settings }: Dependencies) {
  const desk = new BillingDesk(kysely, money);
  const trusted = parseNetworks(settings.trustedProxies) ?? [];
  return new Hono<Env>()
    .get('/', async (c) => c.json(await desk.show(c.get('person').accountId)))
    .get('/payments', async (c) => {
      const payments = await desk.listPayments(c.get('person').accountId);
      return c.json({ payments: payments.map((payment) => visibleTo(c.get('person'), payment)) });
    })
    .get('/payments/:id', async (c) => {
      const payment = await desk.follow(c.get('person').accountId, c.req.param('id'), Date.now());
      return c.json(visibleTo(c.get('person'), payment));
    })
    .get('/payments/:id/receipt', async (c) => c.json({ url: await desk.receiptUrl(c.get('person').accountId, c.req.param('id')) }))
    .post('/top-ups', validate('json', topUpSchema), async (c) => {
      const { amountUsd: amount, provider, savesCard } = c.req.valid('json');
      const result = await desk.payments.start({ payer: c.get('person'), amount, provider, savesCard, nowMs: Date.now() });
      if (result.type === 'refused') {
        const message = startMessage(result.why, desk.payments.rules);
        throw result.why === 'too_many_tries'
          ? new TooManyError(message, ATTEMPTS_WINDOW_MS, 'amountUsd')
          : new ApiError('invalid', message, 'amountUsd');
      }
      if (result.payment.status === 'failed') throw new ApiError('conflict', `The payment could not be started: ${result.payment.reason}.`);
      return c.json(describePayment(result.payment), 201);
    })
    .post('/redeem', validate('json', redeemSchema), async (c) => {
      const { accountId } = c.get('person');
      const address = clientAddress(c.env.address, c.req.raw.headers, trusted);
      const result = await redeem(kysely, { accountId, code: c.req.valid('json').code, address, nowMs: Date.now() });
      if (result.type === 'redeemed') return c.json(describeBenefit(result.benefit));
      const message = redeemMessage(result);
      throw result.why === 'too_many_tries'
        ? new TooManyError(message, result.retryAfterMs ?? ATTEMPTS_WINDOW_MS, 'code')
        : new ApiError('conflict', message, 'code');
    })
    .get('/cards', async (c) => c.json({ cards: await desk.listCards(c.get('person').accountId) }))
    .delete('/cards/:id', async (c) => {
      await desk.removeCard(c.get('person').accountId, c.req.param('id'), Date.now());
      return c.json({ removed: true });
    })
    .get('/auto-top-up', async (c) => c.json({ autoTopUp: await desk.showAutoTopUp(c.get('person').accountId, Date.now()) }))
    .put('/auto-top-up', validate('json', autoTopUpSchema), async (c) => {
      const { accountId } = c.get('person');
      const form = c.req.valid('json');
      const nowMs = Date.now();
      if (form.isOn) {
        const terms = { threshold: form.thresholdUsd, amount: form.amountUsd, monthlyCap: form.monthlyCapUsd, methodRef: form.methodRef };
        const problem = await desk.autoTopUps.switchOn(accountId, terms, nowMs);
        if (problem !== undefined) throw new ApiError('invalid', autoTopUpMessage(problem, desk.payments.rules));
      } else {
        await desk.autoTopUps.switchOff(accountId, '', nowMs);
      }
      return c.json({ autoTopUp: await desk.showAutoTopUp(accountId, nowMs) });
    });
}

function describeBenefit(benefit: PromoBenefit) {
  switch (benefit.kind) {
    case 'credit':
      return { kind: 'credit' as const, usd: formatUsd(benefit.amount) };
    case 'plan':
      return { kind: 'plan' as const, planId: benefit.planId, periods: benefit.periods };
    case 'bonus':
      return { kind: 'bonus' as const, percent: benefit.percent, maxUsd: formatUsd(benefit.amount) };
  }
}

/** Hides the payment page of an open payment from operators who view the account. */
function visibleTo({ viewedBy }: Person, payment: ReturnType<typeof describePayment>) {
  return viewedBy === undefined ? payment : { ...payment, address: null };
}
