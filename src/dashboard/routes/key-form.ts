import { z } from 'zod';
import type { BudgetChange } from '../../accounts/key-budgets.ts';
import { settingsShape } from '../../accounts/key-settings.ts';
import { DAY_MS } from '../../durations.ts';
import { usdShape } from '../validate.ts';

/** Schemas for the key forms. Unknown fields are refused, because a misspelt limit must not be ignored. */

const OVERLAP_MS_MAX = 90 * DAY_MS;
const BULK_MAX = 1000;

const usd = usdShape('must be an amount in USD such as 25 or 0.5, with at most nine decimals');

const budgets = z
  .strictObject({ day: usd.nullish(), week: usd.nullish(), month: usd.nullish(), total: usd.nullish() })
  .transform((amounts): BudgetChange => amounts);

/** The form for a new key. */
export const newKeySchema = z.strictObject({ ...settingsShape, budgets: budgets.optional() });
/** Changes to a key. Absent fields stay as they are. */
export const keyChangeSchema = z.strictObject({
  ...z.object(settingsShape).partial().shape,
  budgets: budgets.optional(),
  isDisabled: z.boolean().optional(),
});
/** How long the old secret stays valid after a rotation. */
export const rotationSchema = z.strictObject({ overlapMs: z.number().int().min(0).max(OVERLAP_MS_MAX, 'is more than 90 days') });
/** The name of the key, typed to confirm its deletion. */
export const deletionSchema = z.strictObject({ name: z.string() });
/** One action on several keys. */
export const bulkSchema = z.strictObject({
  action: z.enum(['disable', 'enable', 'delete']),
  ids: z.array(z.string().min(1).max(100)).min(1, 'choose at least one key').max(BULK_MAX),
});
