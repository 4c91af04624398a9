import type { MiddlewareHandler } from 'hono';
import { validator } from 'hono/validator';
import { z } from 'zod';
import { parseUsd, type Nanos } from '../ledger/money.ts';
import { sayPlainly } from '../plain-words.ts';
import { ApiError } from './api-error.ts';
import type { Env } from './person.ts';

type Source = 'json' | 'query';

/** Middleware typed with the schema's input for the client and its output for the handler. */
type Validated<Target extends Source, Schema extends z.ZodType> = MiddlewareHandler<
  Env,
  string,
  { in: Record<Target, z.input<Schema>>; out: Record<Target, z.output<Schema>> }
>;

/** The length of a page of the operators' lists. */
export const PAGE_ROWS = 50;

/** The cursor of the previous page of a list, as returned in `next`. */
export const placeShape = z
  .string()
  .regex(/^\d{1,15}(?:-[\w:]{1,100}){1,2}$/u, 'is not a page cursor')
  .optional();

/** Parses an amount in USD as people write it. `isAllowed` checks the amount; the message describes valid ones. */
export function usdShape(message: string, isAllowed: (amount: Nanos) => boolean = (amount) => amount >= 0n) {
  return z
    .string()
    .max(30)
    .transform((text) => parseUsd(text))
    .refine((amount): amount is Nanos => amount !== undefined && isAllowed(amount), message);
}

/** Validates the query or the JSON body of a request. The handler gets the typed result from `c.req.valid`. */
export function validate<Target extends Source, Schema extends z.ZodType>(target: Target, schema: Schema): Validated<Target, Schema> {
  return validator(target, (value) => check(value, schema)) as unknown as Validated<Target, Schema>;
}

/** Parses a value with a schema. On failure, throws an ApiError that names the invalid field. */
export function check<Schema extends z.ZodType>(value: unknown, schema: Schema): z.output<Schema> {
  // PostgreSQL cannot store NUL, and nobody types it.
  if (hasNul(value)) throw new ApiError('invalid', 'The request contains a NUL character.');
  const result = schema.safeParse(value, { error: sayPlainly });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = issue?.path.join('.') ?? '';
  throw new ApiError('invalid', `${field === '' ? 'The request' : field}: ${issue?.message ?? 'is not valid'}`, field);
}

function hasNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0');
  return typeof value === 'object' && value !== null && Object.values(value).some(hasNul);
}
