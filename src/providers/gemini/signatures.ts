import { isObject, type JsonObject } from '../../openai/types.ts';

/**
 * The newest models sign their function calls and refuse a call of their own that comes back unsigned. Callers that
 * know Google's spelling get the signature in the tool call and send it back; for all others the gate remembers it.
 */

/** Google's documented word for a signature that is lost. */
export const SKIPPED_SIGNATURE = 'skip_thought_signature_validator';

/** What the gate remembers for a tool call. */
export function writeCarried(signature: string): string {
  return JSON.stringify({ thoughtSignature: signature });
}

/** What goes into the tool call that the caller gets. */
export function writeExtraContent(signature: string | undefined): JsonObject {
  return signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } };
}

/** The signature of a tool call that comes back, from the caller or from the gate's memory. */
export function readSignature(call: JsonObject, carried: ReadonlyMap<string, string> | undefined): string | undefined {
  const extra = isObject(call['extra_content']) ? call['extra_content'] : {};
  const google = isObject(extra['google']) ? extra['google'] : {};
  return readText(google['thought_signature']) ?? readCarried(carried?.get(String(call['id'])));
}

/** The conversation may have begun with another provider, whose calls carry something else. */
function readCarried(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? readText(value['thoughtSignature']) : undefined;
  } catch {
    // Not ours, so nothing for Google.
    return undefined;
  }
}

function readText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
