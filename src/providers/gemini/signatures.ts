import { isObject, type JsonObject } from '../../openai/types.ts';
import { readObject } from '../parse-object.ts';
import type { ReplyContext, Target } from '../provider.ts';

/**
 * The newest models sign their function calls and refuse a call of their own that comes back unsigned. Callers that
 * know Google's spelling get the signature in the tool call and send it back; for all others the gate remembers it.
 */

/** Google's documented word for a signature that is lost. */
export const SKIPPED_SIGNATURE = 'skip_thought_signature_validator';

/** What the gate remembers for a tool call: its signature, and the model that signed. */
export function writeCarried(signature: string, { providerModel = '' }: ReplyContext): string {
  return JSON.stringify({ model: nameOf(providerModel), thoughtSignature: signature });
}

/** What goes into the tool call that the caller gets. */
export function writeExtraContent(signature: string | undefined): JsonObject {
  return signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } };
}

/** The signature of a tool call that comes back, from the caller or from the gate's memory. Another model's is of no use. */
export function readSignature(call: JsonObject, { carried, model }: Target): string | undefined {
  const extra = isObject(call['extra_content']) ? call['extra_content'] : {};
  const google = isObject(extra['google']) ? extra['google'] : {};
  // The conversation may have begun with another provider, whose calls carry something else.
  const text = carried?.get(String(call['id']));
  const kept = text === undefined ? undefined : readObject(text);
  if (kept !== undefined && kept['model'] !== nameOf(model)) return undefined;
  return readText(google['thought_signature']) ?? readText(kept?.['thoughtSignature']);
}

/** A path before the name does not count. */
function nameOf(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1);
}

function readText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
