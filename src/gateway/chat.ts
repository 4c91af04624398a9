import { toGatewayError } from '../errors.ts';
import type { Incoming } from '../http/incoming.ts';
import { admit, admitAccount, limitHeaders } from './admit.ts';
import { authenticate } from './authenticate.ts';
import type { Call } from './call.ts';
import type { Gate, Reply } from './gate.ts';
import { estimateTokens } from './price.ts';
import { readRequest } from './read-request.ts';
import { reply } from './reply.ts';
import { route } from './route.ts';
import { send } from './send.ts';
import { holdToll } from './toll.ts';

/** Handles POST /v1/chat/completions. Names steps 1 to 7 of docs/architecture.md, in their order. */
export async function chatCompletions(request: Incoming, call: Call, gate: Gate): Promise<Reply> {
  const holder = await authenticate(request, call, gate.keys);
  admitAccount(gate, holder, call);
  const { chat, bodyBytes, source } = await readRequest(request, call, gate);
  const model = route(gate.catalog, holder, chat);
  const admission = await admit(gate.limits, holder, {
    defaults: gate.config.limits,
    tokensExpected: Math.min(model.contextLength, estimateTokens(bodyBytes)),
  });
  const toll = await holdToll(gate, { call, holder, model, chat, bodyBytes, admission });
  call.markAccepted();
  try {
    const answer = await send(gate, { call, chat, source, model, toll, outputTokensMax: toll.outputTokensMax });
    toll.noteFirstToken();
    return await reply(gate, call, { answer, toll, headers: limitHeaders(admission.state) });
  } catch (error) {
    await (call.isClientGone ? toll.abandon() : toll.fail(toGatewayError(error)));
    throw error;
  }
}
