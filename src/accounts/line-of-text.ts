import { z } from 'zod';

/**
 * A line of text that people get to see. Control characters are commands to a terminal, marks that turn the direction of
 * writing make one text look like another, halves of characters are no text, and a database refuses some of them.
 */
export const lineOfText = z
  .string()
  .trim()
  .regex(/^[^\p{Cc}\p{Cs}\u202A-\u202E\u2066-\u2069]*$/u, 'must not have control characters');

/** What something is called: more than blanks and other characters that nobody sees. */
export function visibleName(refusal = 'must have something to read'): typeof lineOfText {
  return lineOfText.regex(/[\p{L}\p{N}\p{P}\p{S}]/u, refusal);
}
