import { Hono } from 'hono';
import { z } from 'zod';
import { ApiError } from '../api-error.ts';
import type { Env, Dependencies } from '../dependencies.ts';
import { PlanDesk } from './plan-desk.ts';
import { validate } from '../validate.ts';

const planId = z.string().min(1).max(64);
const methodRef = z.string().min(1).max(200).optional();
const payBy = z.enum(['balance', 'card']);
const quoteSchema = z.object({ planId });
const takeSchema = z.strictObject({ planId, atMs: z.number().int().nonnegative(), quoteId: z.string().max(200), payBy, methodRef });
const useSchema = z.strictObject({ useFirst: z.enum(['plan', 'balance']) });
const paymentSchema = z.strictObject({ payBy, methodRef });

/** The offered plans, and the account's subscription and its changes. */
export function planRoutes({ database: { kysely }, money }: Dependencies) {
  const desk = new PlanDesk(kysely, money.desk);
  return new Hono<Env>()
    .get('/', async (c) => c.json(await desk.show(c.get('person').accountId)))
    .get('/quote', validate('query', quoteSchema), async (c) =>
      c.json(await desk.quote(c.get('person').accountId, c.req.valid('query').planId, Date.now())),
    )
    .post('/take', validate('json', takeSchema), async (c) => {
      const form = c.req.valid('json');
      return c.json(await desk.take(c.get('person'), form, form));
    })
    .post('/cancel', async (c) => {
      const { accountId } = c.get('person');
      requireDone(await desk.subscriptions.cancel(accountId, Date.now()), 'You have no plan to cancel.');
      return c.json(await desk.show(accountId));
    })
    .post('/resume', async (c) => {
      const { accountId } = c.get('person');
      requireDone(await desk.subscriptions.resume(accountId, Date.now()), 'Your plan has ended. Subscribe again.');
      return c.json(await desk.show(accountId));
    })
    .put('/payment', validate('json', paymentSchema), async (c) =>
      c.json(await desk.setPayment(c.get('person').accountId, c.req.valid('json'))),
    )
    .put('/use', validate('json', useSchema), async (c) => {
      const { accountId } = c.get('person');
      requireDone(await desk.subscriptions.setUse(accountId, c.req.valid('json').useFirst), 'You have no plan with credit to use.');
      return c.json(await desk.show(accountId));
    });
}

function requireDone(isDone: boolean, message: string): void {
  if (!isDone) throw new ApiError('conflict', message);
}
