import { createHash } from 'node:crypto';

const SHORT_ID = /^[A-Za-z0-9]{9}$/u;

/**
 * An id of nine letters and digits, which is all that Mistral's models take. The same id always gives the same short one,
 * so a call and its result stay together; ids of other providers often begin alike, so they are hashed and not cut.
 */
export function shortToolId(id: string): string {
  return SHORT_ID.test(id) ? id : createHash('sha256').update(id).digest('hex').slice(0, 9);
}
