import type { MiddlewareHandler } from 'hono';
import { validator } from 'hono/validator';
import { z } from 'zod';
import { parseUsd, type Nanos } from '../ledger/money.ts';
import { ApiError } from './api-error.ts';
import type { Env } from './parts.ts';

type Source = 'json' | 'query';

/** What a client sends is what the schema reads; what the handler gets is what it makes of that. */
type Validated<Target extends Source, Schema extends z.ZodType> = MiddlewareHandler<
  Env,
  string,
  { in: Record<Target, z.input<Schema>>; out: Record<Target, z.output<Schema>> }
>;

/** Where the former page of a list ended, as it was told with that page. */
export const placeShape = z
  .string()
  .regex(/^\d{1,15}(?:-[\w:]{1,100}){1,2}$/u, 'is not a page cursor')
  .optional();

/** An amount of USD as people write it, which `isFit` decides on; the message says what would be. */
export function usdShape(message: string, isFit: (amount: Nanos) => boolean = (amount) => amount >= 0n) {
  return z
    .string()
    .max(30)
    .transform((text) => parseUsd(text))
    .refine((amount): amount is Nanos => amount !== undefined && isFit(amount), message);
}

/** Checks the query or the JSON body of a request against a schema; the handler then gets it typed from `c.req.valid`. */
export function validate<Target extends Source, Schema extends z.ZodType>(target: Target, schema: Schema): Validated<Target, Schema> {
  return validator(target, (value) => check(value, schema)) as unknown as Validated<Target, Schema>;
}

/** What a schema makes of a value; a refusal names the field that is to blame. */
export function check<Schema extends z.ZodType>(value: unknown, schema: Schema): z.output<Schema> {
  // PostgreSQL holds no such character, and nobody types it.
  if (hasNul(value)) throw new ApiError('invalid', 'The request contains a NUL character.');
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = issue?.path.join('.') ?? '';
  throw new ApiError('invalid', `${field === '' ? 'The request' : field}: ${issue?.message ?? 'is not valid'}`, field);
}

function hasNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0');
  return typeof value === 'object' && value !== null && Object.values(value).some(hasNul);
}
