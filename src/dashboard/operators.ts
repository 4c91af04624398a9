import type { MiddlewareHandler } from 'hono';
import { ApiError } from './api-error.ts';
import { refuseStale } from './auth/sessions.ts';
import type { Env } from './parts.ts';

/** Whether a request only reads. */
export function isReading(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

/**
 * Lets only those through who run the service, and of them only who signs in with a second factor. To everybody else there is
 * nothing here. What changes something needs a sign-in of the last hour, because a cookie may be stolen long after it.
 */
export const operating: MiddlewareHandler<Env> = async (c, next) => {
  const person = c.get('person');
  if (!person.isOperator) throw new ApiError('not_found', 'Nothing was found at this URL.');
  if (!person.hasTwoFactor)
    throw new ApiError('forbidden', 'Operators need two-factor authentication. Turn it on in your settings, under Security.');
  if (!isReading(c.req.method)) refuseStale(person);
  await next();
};
