import { validator } from 'hono/validator';
import type { z } from 'zod';
import { ApiError } from './api-error.ts';

/** Checks the query or the JSON body of a request against a schema; the handler then gets it typed from `c.req.valid`. */
export function validate<Target extends 'json' | 'query', Schema extends z.ZodType>(target: Target, schema: Schema) {
  return validator(target, (value): z.output<Schema> => {
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    const [issue] = result.error.issues;
    const field = issue?.path.join('.') ?? '';
    throw new ApiError('invalid', `${field === '' ? 'The request' : field}: ${issue?.message ?? 'is not valid'}`, field);
  });
}
