/**
 * `JSON.parse` for what is written again: integers that no number holds, such as ids of eighteen digits, are written as they came.
 * They are objects to whoever looks at them. This is slow, so that only a text with such integers is read in this way.
 */
export function parseExact(text: string): unknown {
  return LONG_INTEGER.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
}

/** A value in an object or a list; fifteen digits are always held. */
const LONG_INTEGER = /[:[,]\s*-?\d{16}/u;

function keepDigits(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? '';
  return /^-?\d+$/u.test(source) ? JSON.rawJSON(source) : value;
}

declare global {
  interface JSON {
    /** Of the runtime, which its types do not have yet: a value that is written as this text. */
    rawJSON(text: string): object;
  }
}
