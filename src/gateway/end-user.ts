import { createHash } from 'node:crypto';
import type { ChatRequest } from '../openai/types.ts';

/** As long as a safety identifier may be. */
const CHARACTERS_MAX = 128;
/** What a database refuses to store as text, or a terminal takes for a command. */
const UNFIT = /[\p{Cc}\p{Cs}]/u;

/**
 * For whom a request was made, by the caller's own name for them: `safety_identifier`, else `user`. What is longer than a name,
 * or cannot be stored, is told by its hash, which is the same every time.
 */
export function endUserOf(chat: ChatRequest): string | undefined {
  const name = nameIn(chat.safety_identifier) ?? nameIn(chat.user);
  if (name === undefined) return undefined;
  return name.length <= CHARACTERS_MAX && !UNFIT.test(name) ? name : `sha256:${createHash('sha256').update(name).digest('hex')}`;
}

function nameIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
