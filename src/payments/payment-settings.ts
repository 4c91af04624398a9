import { z } from 'zod';
import { usdSchema } from '../accounts/plan-settings.ts';
import { DAY_MS } from '../durations.ts';
import { isWholeCents, type PaymentRules } from './payments.ts';

const PRESETS_MAX = 8;
const GRACE_DAYS_MAX = 60;
const ONE_USD = 1_000_000_000n;

const payable = usdSchema.refine(isWholeCents, 'must be in whole cents');

/** `payments` in `tollgate.yaml`. */
export const paymentsSchema = z
  .strictObject({
    minimum_usd: payable.prefault(5),
    maximum_usd: payable.prefault(1000),
    presets_usd: z.array(payable).max(PRESETS_MAX).prefault([10, 25, 50, 100]),
    grace_days: z.number().int().min(0).max(GRACE_DAYS_MAX).default(3),
    bank_transfer: z.string().min(1).max(2000).optional(),
    stripe_api_url: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).optional(),
  })
  .refine(({ minimum_usd: minimum, maximum_usd: maximum }) => minimum >= ONE_USD && maximum >= minimum, {
    path: ['minimum_usd'],
    error: 'must be at least 1, and not above maximum_usd',
  });

/** The payment settings. */
export interface PaymentsConfig {
  readonly rules: PaymentRules;
  readonly stripe:
    | { readonly secretKey: string; readonly webhookSecret: string | undefined; readonly apiUrl: string | undefined }
    | undefined;
  /** Bank details shown to people who pay by bank transfer; undefined if that is not offered. */
  readonly bankTransfer: string | undefined;
}

/** Combines the settings file with the secrets of the environment. */
export function toPaymentsConfig(
  settings: z.output<typeof paymentsSchema>,
  secrets: { readonly STRIPE_SECRET_KEY?: string | undefined; readonly STRIPE_WEBHOOK_SECRET?: string | undefined },
): PaymentsConfig {
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecret } = secrets;
  return {
    rules: {
      minimum: settings.minimum_usd,
      maximum: settings.maximum_usd,
      presets: settings.presets_usd,
      graceMs: settings.grace_days * DAY_MS,
    },
    stripe: secretKey === undefined ? undefined : { secretKey, webhookSecret, apiUrl: settings.stripe_api_url },
    bankTransfer: settings.bank_transfer,
  };
}
