import { createHash } from 'node:crypto';

const SHORT_ID = /^[A-Za-z0-9]{9}$/u;

/**
 * Returns an id of nine letters and digits, the only form Mistral's models accept. The same id always maps to the same
 * short id, so a call and its result stay together. Ids are hashed rather than truncated, because other providers' ids
 * often share a prefix.
 */
export function shortToolId(id: string): string {
  return SHORT_ID.test(id) ? id : hashOf(id, 9);
}

/**
 * Returns an id of at most this many characters: some gateways put whole signatures into theirs. The same id always
 * maps to the same short one.
 */
export function boundedToolId(id: string, charactersMax: number): string {
  return id.length <= charactersMax ? id : `call_${hashOf(id, 24)}`;
}

function hashOf(id: string, characters: number): string {
  return createHash('sha256').update(id).digest('hex').slice(0, characters);
}
