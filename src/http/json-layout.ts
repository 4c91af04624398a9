import { GatewayError } from '../errors.ts';

const DEPTH_MAX = 64;
/** More fields than any genuine request has. Fields beyond the limit are not recorded. */
const FIELDS_MAX = 1000;
/** More values than any genuine request has. A body full of them would take seconds to parse and write, during which no request is served. */
const VALUES_MAX = 250_000;
/** Integers of this many digits may not fit into a number. */
const WIDE_DIGITS = 16;

const QUOTE = 34;
const COMMA = 44;
const ZERO = 48;
const NINE = 57;
const COLON = 58;
const BACKSLASH = 92;
const SMALL_E = 101;
const CASE_BIT = 32;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;

/** A request shorter than this is written anew as quickly as it is copied field by field. */
export const COPIED_CHARACTERS_MIN = 4096;

/** The position of a value in a text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const NO_FIELDS: ReadonlyMap<string, Span> = new Map();

/** The layout of a JSON text, as far as it shows without parsing values. Correct only for a text that parses. */
export class JsonLayout {
  /** Filled only where somebody wants the places of fields. */
  readonly #fields: Map<string, Span> | undefined;
  /** The number of name-value pairs at any depth. Larger than in the parsed value if a name appears twice. */
  pairs = 0;
  /** True when a number may lose digits when parsed. */
  hasWideNumber = false;
  /** True when a number has an exponent, so it may be infinite when parsed. */
  hasExponent = false;
  /** The number of values begun, not counting the first of each array. */
  #values = 0;
  #depth = 0;
  #name = '';
  #valueStart = -1;

  /**
   * Scans a text in one pass, skipping the inside of strings. Throws when it is nested too deeply or has too many values. The places of the
   * fields cost objects and are noted only where they are wanted.
   */
  constructor(text: string, notesFields = true) {
    this.#fields = notesFields ? new Map() : undefined;
    let digits = 0;
    for (let at = 0; at < text.length; at += 1) {
      const character = text.charCodeAt(at);
      if (character >= ZERO && character <= NINE) {
        digits += 1;
        if (digits === WIDE_DIGITS) this.hasWideNumber = true;
        continue;
      }
      if (digits > 0 && (character | CASE_BIT) === SMALL_E) this.hasExponent = true;
      digits = 0;
      if (character === QUOTE) at = this.#skipString(text, at);
      else this.#readCharacter(character, at);
    }
  }

  /** The values of the outermost object by name, up to the first thousand. If a name appears twice, the last one counts. */
  get fields(): ReadonlyMap<string, Span> {
    return this.#fields ?? NO_FIELDS;
  }

  #skipString(text: string, start: number): number {
    const end = endOfString(text, start);
    if (this.#depth === 1 && this.#valueStart === -1 && this.#fields !== undefined) this.#name = text.slice(start, end + 1);
    return end;
  }

  #readCharacter(character: number, at: number): void {
    switch (character) {
      case OPEN_BRACE:
      case OPEN_BRACKET:
        return this.#open();
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        if (this.#depth === 1) this.#endField(at);
        this.#depth -= 1;
        return undefined;
      case COLON:
        this.#count();
        this.pairs += 1;
        if (this.#depth === 1) this.#valueStart = at + 1;
        return undefined;
      case COMMA:
        this.#count();
        if (this.#depth === 1) this.#endField(at);
        return undefined;
    }
  }

  /** Enforces the depth limit. The parser would accept any depth, but writing such a value again overflows the stack. */
  #open(): void {
    this.#depth += 1;
    if (this.#depth > DEPTH_MAX) throw new GatewayError('nesting_too_deep', `The body is nested more than ${DEPTH_MAX} levels deep.`);
  }

  #count(): void {
    this.#values += 1;
    if (this.#values > VALUES_MAX)
      throw new GatewayError(
        'request_too_large',
        `The body has more than ${VALUES_MAX.toLocaleString('en')} values. Send fewer messages, parts or fields.`,
      );
  }

  #endField(end: number): void {
    if (this.#valueStart === -1) return;
    const fields = this.#fields;
    if (fields !== undefined && fields.size < FIELDS_MAX) fields.set(nameOf(this.#name), { start: this.#valueStart, end });
    this.#valueStart = -1;
  }
}

/** Decodes a name as written, with its quotes. A name that cannot be decoded means that the text does not parse either. */
function nameOf(written: string): string {
  if (!written.includes('\\')) return written.slice(1, -1);
  try {
    return JSON.parse(written) as string;
  } catch {
    return '';
  }
}

/** Finds the end of a string with the runtime's own search from quote to quote, so long texts are skipped at memory speed. */
export function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, quote: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}

/** Counts the name-value pairs of a parsed JSON value, at any depth. */
export function countPairs(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let pairs = 0;
  if (Array.isArray(value)) for (const item of value) pairs += countPairs(item);
  else for (const name in value) pairs += 1 + countPairs((value as Record<string, unknown>)[name]);
  return pairs;
}
