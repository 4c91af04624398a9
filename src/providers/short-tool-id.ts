import { createHash } from 'node:crypto';

const SHORT_ID = /^[A-Za-z0-9]{9}$/u;

/**
 * An id of nine letters and digits, which is all that Mistral's models take. The same id always gives the same short one,
 * so a call and its result stay together; ids of other providers often begin alike, so they are hashed and not cut.
 */
export function shortToolId(id: string): string {
  return SHORT_ID.test(id) ? id : hashOf(id, 9);
}

/** An id of at most so many characters: some gateways put whole signatures into theirs. The same id always gives the same one. */
export function boundedToolId(id: string, charactersMax: number): string {
  return id.length <= charactersMax ? id : `call_${hashOf(id, 24)}`;
}

function hashOf(id: string, characters: number): string {
  return createHash('sha256').update(id).digest('hex').slice(0, characters);
}
