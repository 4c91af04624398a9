import { z } from 'zod';

/**
 * A line of text shown to people. Refused are control characters, which are commands to a terminal; marks that change the text
 * direction, which make one text look like another; and unpaired surrogates. A database refuses some of these too.
 */
export const lineOfText = z
  .string()
  .trim()
  .regex(/^[^\p{Cc}\p{Cs}\u202A-\u202E\u2066-\u2069]*$/u, 'must not have control characters');

/** Validates a name: it must have at least one visible character. */
export function visibleName(refusal = 'must have a visible character'): typeof lineOfText {
  return lineOfText.regex(/[\p{L}\p{N}\p{P}\p{S}]/u, refusal);
}
