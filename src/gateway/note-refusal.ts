import type { GatewayError } from '../errors.ts';
import { objectOf } from '../openai/types.ts';
import type { Call } from './call.ts';
import type { Gate } from './gate.ts';

/** Records a request that was refused before it was accepted, for its account. A request without a known key belongs to no account. */
export function noteRefusal({ refusals, catalog }: Pick<Gate, 'refusals' | 'catalog'>, call: Call, error: GatewayError): void {
  const { id: requestId, holder, body } = call;
  if (holder === undefined) return;
  const { model, stream } = objectOf(body);
  refusals.note({
    requestId,
    accountId: holder.accountId,
    keyId: holder.keyId,
    error,
    model: typeof model === 'string' && catalog.looksLikeModelName(model) ? model : undefined,
    isStreaming: stream === true,
  });
}
