import { filledText, objectOf, type JsonObject } from '../../openai/types.ts';
import { readObject } from '../parse-object.ts';
import type { ReplyContext } from '../dialect.ts';
import type { Draft, Service } from './draft.ts';

/**
 * The newest models sign their function calls and refuse one that comes back unsigned. Clients that know Google's field
 * get the signature in the tool call and send it back. For all others the gateway stores it.
 */

/** Google's documented placeholder for a lost signature. */
export const SKIPPED_SIGNATURE = 'skip_thought_signature_validator';

/** Returns what the gateway stores for a tool call: its signature and the model that signed it. */
export function writeCarried(signature: string, { providerModel = '' }: ReplyContext, service: Service): string {
  return JSON.stringify({ model: nameOf(providerModel, service), thoughtSignature: signature });
}

/** Returns the signature field of the tool call sent to the caller. */
export function writeExtraContent(signature: string | undefined): JsonObject {
  return signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } };
}

/**
 * Returns the signature of a tool call that comes back, from the caller or the gateway's store. The signature of another
 * model is useless, and each service refuses those of the other.
 */
export function readSignature(call: JsonObject, { target, service }: Draft): string | undefined {
  const { carried, model } = target;
  const extra = objectOf(call['extra_content']);
  const google = objectOf(extra['google']);
  // The conversation may have started at another provider, whose calls carry something else.
  const text = carried?.get(String(call['id']));
  const kept = text === undefined ? undefined : readObject(text);
  if (kept !== undefined && kept['model'] !== nameOf(model, service)) return undefined;
  return filledText(google['thought_signature']) ?? filledText(kept?.['thoughtSignature']);
}

/** Names a model at a service, without a path before its name. */
function nameOf(model: string, service: Service): string {
  const name = model.slice(model.lastIndexOf('/') + 1);
  return service === 'gemini' ? name : `${service}/${name}`;
}
