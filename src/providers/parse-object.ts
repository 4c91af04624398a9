import { isObject, type JsonObject } from '../openai/types.ts';
import { parseExact } from '../openai/parse-exact.ts';
import { ProviderFault } from './dialect.ts';

/** Parses a body or an event from a provider, which must be an object. Without a marker, any of its numbers may be relayed, so all keep their digits. */
export function parseObject(text: string, toolCallMarker = ''): JsonObject {
  return asObject(parseJson(text, toolCallMarker));
}

/** Parses JSON from a provider. If the text contains `toolCallMarker` it may hold tool calls, whose numbers must keep all their digits. */
export function parseJson(text: string, toolCallMarker?: string): unknown {
  try {
    return toolCallMarker !== undefined && text.includes(toolCallMarker) ? parseExact(text) : JSON.parse(text);
  } catch {
    throw new ProviderFault('The provider sent something that is not JSON');
  }
}

/**
 * Parses text that may or may not be a JSON object (a proxy's error page, for example). The parser's own error is
 * discarded, because it could repeat a secret.
 */
export function readObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Checks that a value from a provider is an object. */
export function asObject(value: unknown): JsonObject {
  if (!isObject(value)) throw new ProviderFault('The provider sent JSON that is not an object');
  return value;
}
