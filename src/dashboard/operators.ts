import type { MiddlewareHandler } from 'hono';
import { ApiError } from './api-error.ts';
import { refuseStale } from './auth/sessions.ts';
import type { Env } from './dependencies.ts';

/** Whether a request with this method only reads. */
export function isReading(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

/**
 * Allows only operators who have a second factor and signed in with it. Everyone else gets a 404. Changes also require a sign-in within the last hour,
 * which limits how long a stolen cookie is useful.
 */
export const operatorsOnly: MiddlewareHandler<Env> = async (c, next) => {
  const person = c.get('person');
  if (!person.isOperator) throw new ApiError('not_found', 'Nothing was found at this URL.');
  if (!person.hasTwoFactor)
    throw new ApiError('forbidden', 'Operators need two-factor authentication. Turn it on in your settings, under Sign-in.');
  if (!person.passedSecondFactor)
    throw new ApiError('forbidden', 'You signed in without your second factor. Sign out, then sign in again.');
  if (!isReading(c.req.method)) refuseStale(person);
  await next();
};
