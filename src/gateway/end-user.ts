import { createHash } from 'node:crypto';
import { filledText, type ChatRequest } from '../openai/types.ts';

/** The maximum length of a safety identifier. */
const CHARACTERS_MAX = 128;
/** Characters that a database cannot store as text, or that a terminal takes for commands. */
const UNFIT = /[\p{Cc}\p{Cs}]/u;

/**
 * Returns the end user of a request, by the client's own name for them: `safety_identifier`, else `user`. A name that is too long or
 * cannot be stored is replaced by its hash, which is the same every time.
 */
export function endUserOf(chat: ChatRequest): string | undefined {
  const name = filledText(chat.safety_identifier) ?? filledText(chat.user);
  if (name === undefined) return undefined;
  return name.length <= CHARACTERS_MAX && !UNFIT.test(name) ? name : `sha256:${createHash('sha256').update(name).digest('hex')}`;
}
