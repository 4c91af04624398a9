import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { Tables } from '../database/tables.ts';
import { asNanos, NO_MONEY, type Nanos } from '../ledger/money.ts';
import { count } from './key-settings.ts';
import { visibleName } from './line-of-text.ts';
import { usdSchema } from './plan-settings.ts';
import { findPlan } from './plans.ts';
import { normalizeCode } from './promo-code-text.ts';
import type { CodeChoice, PromoBenefit, PromoRules } from './promo-codes.ts';

/** Codes to create: which ones, their benefit, and who may use them. */
export interface PromoOrder {
  readonly which: CodeChoice;
  readonly benefit: PromoBenefit;
  readonly rules: PromoRules;
}

const CODES_MAX = 10_000;
const PERCENT_MAX = 100;
/** A hundred years, so that the expiry stays within the range of dates. */
const DAYS_MAX = 36_500;

const days = count.max(DAYS_MAX, `must be at most ${DAYS_MAX} days`);
const usd = usdSchema.refine((amount) => amount > 0n, 'must be above zero');
const moment = z.number().int().min(0).max(8.64e15, 'is too far in the future');
const ownCode = z
  .string()
  .trim()
  // Codes are printed to files and terminals, one per line.
  .refine(
    (text) => normalizeCode(text) !== undefined && !/[\p{Cc}\p{Cf}]/u.test(text),
    'A code has 4 to 64 letters, digits and _; spaces and dashes do not count.',
  );

const fields = z.strictObject({
  creditUsd: usd.optional(),
  planId: z.string().min(1).max(64).optional(),
  periods: count.default(1),
  bonusPercent: count.max(PERCENT_MAX, `is 1 to ${PERCENT_MAX} percent`).optional(),
  bonusMaxUsd: usd.optional(),
  code: ownCode.optional(),
  prefix: z
    .string()
    .regex(/^[A-Za-z0-9]{0,20}$/u, 'has at most 20 letters and digits')
    .default(''),
  count: count.max(CODES_MAX, `At most ${CODES_MAX} codes can be created at once.`).default(1),
  campaign: visibleName('has no name').max(100, 'has more than 100 characters').optional(),
  uses: count.default(1),
  perAccount: count.default(1),
  newAccountDays: days.optional(),
  minimumTopUpUsd: usd.optional(),
  creditDays: days.optional(),
  validFromMs: moment.optional(),
  validToMs: moment.refine((ms) => ms > Date.now(), 'is in the past').optional(),
});

/** Validates an order of promo codes, from the dashboard or the command line. */
export const promoOrderSchema = fields.transform((order, context): PromoOrder => {
  const refuse = (message: string, field?: keyof typeof order): never => {
    context.addIssue({ code: 'custom', message, path: field === undefined ? [] : [field] });
    return z.NEVER;
  };
  if (order.code !== undefined && order.count > 1)
    return refuse('A code of your choice can be created only once; leave it out to create several codes.', 'code');
  if (order.validToMs !== undefined && order.validToMs <= (order.validFromMs ?? 0)) return refuse('is before it begins', 'validToMs');
  const benefit = readBenefit(order);
  if (benefit === undefined) return refuse('Choose exactly one benefit: credit, a plan or a bonus.');
  if (benefit === 'unlimited') return refuse('Set the maximum bonus.', 'bonusMaxUsd');
  return {
    which: order.code === undefined ? { prefix: order.prefix, count: order.count } : { code: order.code },
    benefit,
    rules: {
      campaign: order.campaign,
      usesMax: order.uses,
      perAccount: order.perAccount,
      newAccountDays: order.newAccountDays,
      minimumTopUp: order.minimumTopUpUsd ?? NO_MONEY,
      validFromMs: order.validFromMs,
      validToMs: order.validToMs,
    },
  };
});

function readBenefit(order: z.output<typeof fields>): PromoBenefit | 'unlimited' | undefined {
  const { creditUsd, planId, bonusPercent, bonusMaxUsd, creditDays } = order;
  if ([creditUsd, planId, bonusPercent].filter((given) => given !== undefined).length !== 1) return undefined;
  if (creditUsd !== undefined) return { kind: 'credit', amount: creditUsd, creditDays };
  if (planId !== undefined) return { kind: 'plan', planId, periods: order.periods };
  if (bonusMaxUsd === undefined) return 'unlimited';
  return { kind: 'bonus', percent: bonusPercent ?? 0, amount: bonusMaxUsd, creditDays };
}

/** Returns the most money that codes can give away if every use is redeemed; undefined if they give an unknown plan. */
export async function findMaxCost(database: Kysely<Tables>, { which, benefit, rules }: PromoOrder): Promise<Nanos | undefined> {
  const each = benefit.kind === 'plan' ? await includedIn(database, benefit) : benefit.amount;
  const codes = 'code' in which ? 1 : which.count;
  return each === undefined ? undefined : asNanos(each * BigInt(codes) * BigInt(rules.usesMax));
}

async function includedIn(database: Kysely<Tables>, { planId, periods }: PromoBenefit & { kind: 'plan' }): Promise<bigint | undefined> {
  const plan = await findPlan(database, planId);
  return plan === undefined ? undefined : plan.included * BigInt(periods);
}
