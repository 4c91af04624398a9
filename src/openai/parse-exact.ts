/**
 * Parses JSON that will be written again: integers that do not fit into a number, such as 18-digit ids, keep their digits. In the
 * result they are objects. This is slow, so only texts with such integers are parsed this way.
 */
export function parseExact(text: string): unknown {
  return LONG_RUN.test(text) && LONG_INTEGER.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
}

/** Sixteen digits anywhere. It is searched for first because that is several times faster. */
const LONG_RUN = /\d{16}/u;
/** A long integer as a value in an object or a list. Fifteen digits always fit into a number. */
const LONG_INTEGER = /[:[,]\s*-?\d{16}/u;

function keepDigits(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? '';
  return /^-?\d+$/u.test(source) ? JSON.rawJSON(source) : value;
}

declare global {
  interface JSON {
    /** Provided by the runtime but missing from its types: a value that is written as this text. */
    rawJSON(text: string): object;
    isRawJSON(value: unknown): boolean;
  }
}
