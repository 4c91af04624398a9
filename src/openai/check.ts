import { GatewayError } from '../errors.ts';
import { isObject, type JsonObject } from './types.ts';

/** Checks one value. `param` names it in the client's spelling. Throws the error that the client sees. */
export type Check = (value: unknown, param: string) => void;

/** The building blocks of the field tables. Messages say what is wrong and what is allowed. */

export const boolean: Check = (value, param) => {
  if (typeof value !== 'boolean') throw wrongType(value, param, 'true or false');
};

export const object: Check = (value, param) => {
  if (!isObject(value)) throw wrongType(value, param, 'an object');
};

export function text({ lengthMax }: { readonly lengthMax?: number } = {}): Check {
  return (value, param) => {
    if (typeof value !== 'string') throw wrongType(value, param, 'a string');
    if (lengthMax !== undefined) checkLength(value, lengthMax, param);
  };
}

/** Checks the length of a text. `what` describes it where the client chose its name, which messages do not repeat. */
export function checkLength(value: string, lengthMax: number, param: string, what = `'${param}'`): void {
  if (!isLongerThan(value, lengthMax)) return;
  throw new GatewayError('string_above_max_length', `${what} is too long; at most ${lengthMax} characters are allowed.`, { param });
}

/** Counts characters as JSON Schema and most languages do. Our own strings count an emoji twice. */
function isLongerThan(value: string, charactersMax: number): boolean {
  if (value.length <= charactersMax) return false;
  return value.length > 2 * charactersMax || Array.from(value).length > charactersMax;
}

/** Checks an integer. Bounds beyond 2^53 are shown in full, and checked as precisely as numbers allow. */
export function integer(min: number | bigint, max: number | bigint): Check {
  const [least, most] = [Number(min), Number(max)];
  return (value, param) => {
    if (typeof value !== 'number' || (Number.isFinite(value) && !Number.isInteger(value)))
      throw wrongType(value, param, `an integer from ${min} to ${max}`);
    if (value < least) throw outOfRange('integer_below_min_value', value, param, `at least ${min}`);
    if (value > most) throw outOfRange('integer_above_max_value', value, param, `at most ${max}`);
  };
}

export function decimal(min: number, max: number): Check {
  return (value, param) => {
    if (typeof value !== 'number') throw wrongType(value, param, `a number from ${min} to ${max}`);
    if (value < min) throw outOfRange('decimal_below_min_value', value, param, `at least ${min}`);
    if (value > max) throw outOfRange('decimal_above_max_value', value, param, `at most ${max}`);
  };
}

export function oneOf(...allowed: readonly string[]): Check {
  const choices = new Set(allowed);
  return (value, param) => {
    if (typeof value !== 'string') throw wrongType(value, param, `one of ${list(allowed)}`);
    if (!choices.has(value))
      throw new GatewayError('invalid_value', `'${param}' has an unknown value; allowed values are ${list(allowed)}.`, { param });
  };
}

export function arrayOf(check: Check, { min = 0, max }: { readonly min?: number; readonly max: number }): Check {
  return (value, param) => {
    if (!Array.isArray(value)) throw wrongType(value, param, 'an array');
    if (value.length < min) throw new GatewayError('empty_array', `'${param}' is empty; it needs at least ${min} entry.`, { param });
    if (value.length > max) {
      throw new GatewayError('array_above_max_length', `'${param}' has ${value.length} entries; at most ${max} are allowed.`, { param });
    }
    for (let index = 0; index < value.length; index += 1) check(value[index], `${param}[${index}]`);
  };
}

/** Checks a value that is either a string or a longer form: a list or an object. */
export function stringOr(form: 'an array' | 'an object', string: Check, longer: Check): Check {
  const isLonger = form === 'an array' ? Array.isArray : isObject;
  return (value, param) => {
    if (typeof value === 'string') string(value, param);
    else if (isLonger(value)) longer(value, param);
    else throw wrongType(value, param, `a string or ${form}`);
  };
}

/**
 * Checks an object: required fields must be present, known fields are checked where present, unknown fields pass. The content of a
 * type in `types` is in the field of that name, which must be present too. The first of them is the default.
 */
export function fields(table: Readonly<Record<string, Check>>, required: readonly string[] = [], types: readonly string[] = []): Check {
  const checks = new Map(Object.entries(table));
  return (value, param) => {
    if (!isObject(value)) throw wrongType(value, param, 'an object');
    for (const name of required) if (!isSet(value[name])) throw missing(join(param, name));
    checkFields(value, checks, param);
    const type = types.find((name) => name === (value['type'] ?? types[0]));
    if (type !== undefined && !isSet(value[type])) throw missing(join(param, type));
  };
}

/** Runs the checks of the fields that are set. */
export function checkFields(value: JsonObject, checks: ReadonlyMap<string, Check>, param: string): void {
  for (const name in value) {
    const field = value[name];
    if (isSet(field)) checks.get(name)?.(field, join(param, name));
  }
}

/** Null means "not set" everywhere in this dialect. */
function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

export function missing(param: string, hint = ''): GatewayError {
  return new GatewayError('missing_required_parameter', `Missing required parameter: '${param}'.${hint}`, { param });
}

export function wrongType(value: unknown, param: string, expected: string, what = `'${param}'`): GatewayError {
  return new GatewayError('invalid_type', `Invalid type for ${what}: expected ${expected}, got ${describeType(value)}.`, { param });
}

export function invalid(param: string, message: string): GatewayError {
  return new GatewayError('invalid_value', message, { param });
}

/** Describes a number out of its range. One beyond 2^53 was rounded when it was parsed, so it is not repeated. */
export function outOfRange(
  name: 'integer_below_min_value' | 'integer_above_max_value' | 'decimal_below_min_value' | 'decimal_above_max_value',
  value: number | bigint,
  param: string,
  allowed: string,
): GatewayError {
  const isExact = typeof value === 'bigint' || Math.abs(value) <= Number.MAX_SAFE_INTEGER;
  const shown = isExact ? value : value > 0 ? 'too large' : 'too small';
  return new GatewayError(name, `'${param}' is ${shown}; it must be ${allowed}.`, { param });
}

function join(param: string, name: string): string {
  return param === '' ? name : `${param}.${name}`;
}

/** Names only the type of a wrong value, not the value: it may be a secret in the wrong field. */
export function describeType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'an integer' : 'a number';
  return `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`;
}

function list(allowed: readonly string[]): string {
  return allowed.map((value) => `"${value}"`).join(', ');
}
