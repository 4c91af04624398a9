import { z } from 'zod';
import { parseUsd, type Nanos } from '../ledger/money.ts';
import { visibleName } from './line-of-text.ts';
import type { Plan } from './plans.ts';

const count = z.number().int().min(1).max(Number.MAX_SAFE_INTEGER);

/** USD in the settings: a number, or a string if a number would not be exact. */
export const usdSchema = z
  .union([z.number(), z.string()], 'must be an amount in USD such as 25 or 0.5')
  .transform((value) => parseUsd(String(value)))
  .refine((amount): amount is Nanos => amount !== undefined && amount >= 0n, {
    error: 'must be USD: zero or more, at most nine decimals',
    // Further checks need an amount.
    abort: true,
  });

/** A plan in `tollgate.yaml`, in forms and in commands. */
export const planSchema = z
  .strictObject({
    id: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/u, 'must be up to 64 lower-case letters, digits, - and _'),
    name: visibleName('must have a name').max(100, 'must have at most 100 characters'),
    price_usd: usdSchema,
    interval: z.enum(['month', 'year']).default('month'),
    included_usd: usdSchema,
    requests_per_minute: count.optional(),
    tokens_per_minute: count.optional(),
    concurrent: count.optional(),
    models: z.array(z.string().min(1)).min(1, 'must name at least one model, or be left out').optional(),
    offered: z.boolean().default(true),
    use_first: z.enum(['plan', 'balance']).default('plan'),
    overflow: z.enum(['balance', 'stop']).default('balance'),
  })
  .transform((entry): Plan => ({
    id: entry.id,
    name: entry.name,
    price: entry.price_usd,
    interval: entry.interval,
    included: entry.included_usd,
    requestsPerMinute: entry.requests_per_minute,
    tokensPerMinute: entry.tokens_per_minute,
    concurrent: entry.concurrent,
    models: entry.models,
    isOffered: entry.offered,
    useFirst: entry.use_first,
    overflow: entry.overflow,
  }));

/** A plan created in the dashboard or by command, where `none` means no plan and cannot be an id. */
export const ownPlanSchema = planSchema.refine(({ id }) => id !== 'none', { path: ['id'], message: 'must not be "none"' });
