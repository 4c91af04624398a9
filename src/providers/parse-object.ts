import { isObject, type JsonObject } from '../openai/types.ts';
import { ProviderFault } from './provider.ts';

/** What a provider sent as a body or an event, which must be an object. */
export function parseObject(text: string): JsonObject {
  return asObject(parseJson(text));
}

/** JSON of a provider, whatever it is. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ProviderFault('The provider sent something that is not JSON');
  }
}

/** A value of a provider that must be an object. */
export function asObject(value: unknown): JsonObject {
  if (!isObject(value)) throw new ProviderFault('The provider sent JSON that is not an object');
  return value;
}
