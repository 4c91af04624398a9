import { Hono } from 'hono';
import { z } from 'zod';
import { NO_SUBSCRIBERS, readPlanFigures, readSubscribers, SUBSCRIBER_STATES, type PlanFigures } from '../../../accounts/plan-figures.ts';
import { ownPlanSchema } from '../../../accounts/plan-settings.ts';
import { Plans, type StoredPlan, type Plan, type PlanResult } from '../../../accounts/plans.ts';
import { formatUsd } from '../../../ledger/money.ts';
import { ApiError } from '../../api-error.ts';
import type { Env, Dependencies } from '../../dependencies.ts';
import { describePlan } from '../describe-plan.ts';
import { KeyDesk } from '../key-desk.ts';
import { PAGE_ROWS, placeShape, validate } from '../../validate.ts';

const subscriberQuery = z.object({ state: z.enum(SUBSCRIBER_STATES).optional(), before: placeShape });

/** Plans, their subscribers and their revenue. Plans from tollgate.yaml are changed there. */
export function adminPlanRoutes(dependencies: Dependencies) {
  const { kysely } = dependencies.database;
  const plans = new Plans(kysely);
  /** Models that the plan already had may since have gone: the form keeps them. */
  const refuseNewUnknown = async ({ id, models = [] }: Plan): Promise<void> => {
    const before = (await plans.read()).find((plan) => plan.id === id)?.models ?? [];
    await new KeyDesk(dependencies).refuseUnknownModels(models.filter((model) => !before.includes(model)));
  };
  return new Hono<Env>()
    .get('/', async (c) => {
      const [listed, figures] = [await plans.read(), await readPlanFigures(kysely)];
      return c.json({ plans: listed.map((plan) => describeListedPlan(plan, figures.get(plan.id) ?? NO_SUBSCRIBERS)) });
    })
    .post('/', validate('json', ownPlanSchema), async (c) => {
      const plan = c.req.valid('json');
      await refuseNewUnknown(plan);
      requireDone(await plans.save(plan, 'command', { actor: c.get('person').email, expects: 'new' }));
      return c.json({ isDone: true });
    })
    .put('/:id', validate('json', ownPlanSchema), async (c) => {
      const plan = c.req.valid('json');
      if (plan.id !== c.req.param('id')) throw new ApiError('invalid', 'The id of a plan cannot be changed.', 'id');
      await refuseNewUnknown(plan);
      requireDone(await plans.save(plan, 'command', { actor: c.get('person').email, expects: 'there' }));
      return c.json({ isDone: true });
    })
    .post('/:id/end', async (c) => {
      requireDone(await plans.end(c.req.param('id'), 'command', c.get('person').email));
      return c.json({ isDone: true });
    })
    .get('/:id/subscribers', validate('query', subscriberQuery), async (c) => {
      const { state, before } = c.req.valid('query');
      const { rows, next } = await readSubscribers(kysely, { planId: c.req.param('id'), state }, { before, rowsMax: PAGE_ROWS });
      return c.json({
        subscribers: rows.map(({ nextPlanId, ...row }) => ({ ...row, nextPlanId: nextPlanId ?? null })),
        next: next ?? null,
      });
    });
}

const REFUSALS: Readonly<Record<Exclude<PlanResult, 'done'>, readonly [ApiError['code'], message: string]>> = {
  of_settings: ['conflict', 'This plan is defined in tollgate.yaml. Change it there.'],
  taken: ['conflict', 'A plan with this id already exists.'],
  no_such_plan: ['not_found', 'Plan not found, or no longer offered.'],
};

function requireDone(result: PlanResult): void {
  if (result === 'done') return;
  const [code, message] = REFUSALS[result];
  throw new ApiError(code, message, 'id');
}

function describeListedPlan(plan: StoredPlan, { subscribers, monthly }: PlanFigures) {
  const { isOffered, isEnded, origin } = plan;
  return { ...describePlan(plan), isOffered, isEnded, origin, subscribers, monthlyUsd: formatUsd(monthly) };
}
