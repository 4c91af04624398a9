import { Hono } from 'hono';
import { z } from 'zod';
import { differences as changesOf, recordAction } from '../../../accounts/audit.ts';
import { DAY_MS } from '../../../durations.ts';
import { withTimeout } from '../../../with-timeout.ts';
import { PaymentList, type ListedPayment } from '../../../payments/payment-list.ts';
import { listProblems } from '../../../payments/problems.ts';
import { isWholeCents, toCents } from '../../../payments/payments.ts';
import { reconcilePayments } from '../../../payments/reconcile.ts';
import { ApiError } from '../../api-error.ts';
import { BillingDesk } from '../billing-desk.ts';
import { describeEvent, describeLife, describeListedPayment } from './describe-payment.ts';
import type { Env, Dependencies } from '../../dependencies.ts';
import { PAGE_ROWS, placeShape, usdShape, validate } from '../../validate.ts';

const PROBLEMS_MAX = 100;
/** The most that a page compares. The command compares everything. */
const COMPARED_MAX = 2000;
const COMPARE_MS = 15_000;
const COMPARE_END_MS = 25_000;

const text = z.string().trim().min(1).max(200);
const listQuery = z.object({
  status: z.enum(['created', 'open', 'unknown', 'paid', 'failed', 'expired']).optional(),
  provider: z.enum(['stripe', 'manual']).optional(),
  account: text.optional(),
  reference: text.optional(),
  before: placeShape,
});
const eventQuery = z.object({ outcome: z.enum(['received', 'applied', 'ignored', 'refused']).optional(), before: placeShape });
const confirmSchema = z.strictObject({
  reference: text,
  amountUsd: usdShape('must be an amount in whole cents such as 25 or 12.50', (amount) => amount > 0n && isWholeCents(amount)),
});
const refuseSchema = z.strictObject({ reason: text });
const compareSchema = z.strictObject({ days: z.number().int().min(1).max(90) });

/** Payments of all accounts, their problems, and the operators' actions on them. */
export function adminPaymentRoutes(dependencies: Dependencies) {
  return new Hono<Env>().route('/', lists(dependencies)).route('/', comparison(dependencies)).route('/', onePayment(dependencies));
}

function lists({ database: { kysely }, money }: Dependencies) {
  const list = new PaymentList(kysely);
  return new Hono<Env>()
    .get('/', validate('query', listQuery), async (c) => {
      const { before, ...filter } = c.req.valid('query');
      const { rows, next } = await list.read(filter, { before, rowsMax: PAGE_ROWS });
      return c.json({ payments: rows.map(describeListedPayment), next: next ?? null });
    })
    .get('/problems', async (c) => {
      const problems = await listProblems(kysely, Date.now(), PROBLEMS_MAX);
      return c.json({ problems: problems.map((problem) => ({ ...problem, paymentId: problem.paymentId ?? null })) });
    })
    .get('/events', validate('query', eventQuery), async (c) => {
      const { before, outcome } = c.req.valid('query');
      const { rows, next } = await list.readEvents(outcome, { before, rowsMax: PAGE_ROWS });
      return c.json({ events: rows.map(describeEvent), hasStripe: money.replay !== undefined, next: next ?? null });
    })
    .post('/events/:id/replay', async (c) => {
      if (money.replay === undefined) throw notSetUp();
      const result = await money.replay(c.req.param('id'), c.get('person').email).catch(throwUnavailable);
      if (result === undefined) throw new ApiError('not_found', 'Stripe does not have this event. It keeps events for thirty days.');
      return c.json({ outcome: result.outcome, detail: result.detail });
    });
}

function comparison({ database: { kysely }, money }: Dependencies) {
  return new Hono<Env>().post('/compare', validate('json', compareSchema), async (c) => {
    const driver = money.desk.driver('stripe');
    if (driver === undefined) throw notSetUp();
    const nowMs = Date.now();
    const sinceMs = nowMs - c.req.valid('json').days * DAY_MS;
    const bound = { paymentsMax: COMPARED_MAX, untilMs: nowMs + COMPARE_MS };
    const comparing = withTimeout('Stripe', reconcilePayments(kysely, driver, sinceMs, bound), COMPARE_END_MS);
    const { compared, foreign, differences, isCutShort } = await comparing.catch(throwUnavailable);
    const changes = changesOf({}, { compared, differences: differences.length });
    await recordAction(kysely, { actor: c.get('person').email, action: 'payments.compare', subject: 'stripe', changes });
    const described = differences.map((difference) => ({ ...difference, paymentId: difference.paymentId ?? null }));
    return c.json({ compared, foreign, isCutShort, differences: described });
  });
}

function onePayment({ database: { kysely }, money }: Dependencies) {
  const list = new PaymentList(kysely);
  const { desk } = money;
  const require = async (id: string): Promise<ListedPayment> => {
    const payment = await list.find(id);
    if (payment === undefined) throw new ApiError('not_found', 'Payment not found.');
    return payment;
  };
  return new Hono<Env>()
    .get('/:id', async (c) => {
      const payment = await require(c.req.param('id'));
      return c.json({ ...describeListedPayment(payment), life: describeLife(payment, await list.readLife(payment)) });
    })
    .get('/:id/receipt', async (c) => {
      const { id, account_id: accountId } = await require(c.req.param('id'));
      return c.json({ url: await new BillingDesk(kysely, money).receiptUrl(accountId, id) });
    })
    .post('/:id/ask', async (c) => {
      const payment = await require(c.req.param('id'));
      if (desk.driver(payment.provider)?.poll === undefined)
        throw new ApiError('conflict', 'The provider of this payment cannot be asked about it.');
      const { status } = await desk.poll(payment, Date.now());
      const changes = changesOf({ status: payment.status }, { status });
      await recordAction(kysely, { actor: c.get('person').email, action: 'payment.ask', subject: payment.id, changes });
      return c.json({ status });
    })
    .post('/:id/confirm', validate('json', confirmSchema), async (c) => {
      const { reference, amountUsd: amount } = c.req.valid('json');
      const payment = await require(c.req.param('id'));
      if ((await desk.findByReference(reference))?.id !== payment.id)
        throw new ApiError('invalid', 'The reference does not belong to this transfer.', 'reference');
      const result = await desk.confirm(payment, toCents(amount), Date.now(), c.get('person').email);
      if (result.type === 'refused')
        throw new ApiError(
          'conflict',
          `Nothing was credited: ${result.reason}. To credit a different amount, use a manual credit.`,
          'amountUsd',
        );
      return c.json({ result: result.type });
    })
    .post('/:id/refuse', validate('json', refuseSchema), async (c) => {
      const payment = await require(c.req.param('id'));
      if (payment.provider !== 'manual') throw new ApiError('conflict', 'Only bank transfers can be ended manually.');
      if (!(await desk.refuse(payment, c.req.valid('json').reason, c.get('person').email)))
        throw new ApiError('conflict', `The payment is already ${payment.status}.`);
      return c.json({ refused: true });
    });
}

function notSetUp(): ApiError {
  return new ApiError('conflict', 'Stripe is not set up here: STRIPE_SECRET_KEY is not set.');
}

/** Reports Stripe's errors and timeouts to the operator. Rethrows everything else as an internal error. */
function throwUnavailable(error: unknown): never {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const type = (error as { readonly type?: unknown }).type;
  if (name !== 'LateError' && !(typeof type === 'string' && type.startsWith('Stripe'))) throw error;
  throw new ApiError('unavailable', `Stripe did not answer as expected: ${message}`);
}
