import { isObject, type JsonObject } from '../openai/types.ts';
import { parseExact } from '../openai/parse-exact.ts';
import { ProviderFault } from './provider.ts';

/** What a provider sent as a body or an event, which must be an object. */
export function parseObject(text: string, callSign?: string): JsonObject {
  return asObject(parseJson(text, callSign));
}

/** JSON of a provider, whatever it is. Where it has `callSign` in it, it may call tools, whose arguments keep all their digits. */
export function parseJson(text: string, callSign?: string): unknown {
  try {
    return callSign !== undefined && text.includes(callSign) ? parseExact(text) : JSON.parse(text);
  } catch {
    throw new ProviderFault('The provider sent something that is not JSON');
  }
}

/** An object, where a text is one; it may be anything else, such as a page of a proxy. The parser's own words could repeat a secret. */
export function readObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A value of a provider that must be an object. */
export function asObject(value: unknown): JsonObject {
  if (!isObject(value)) throw new ProviderFault('The provider sent JSON that is not an object');
  return value;
}
