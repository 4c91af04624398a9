import type { Model } from '../catalog/catalog.ts';
import { GatewayError } from '../errors.ts';
import type { RequestText } from '../openai/request-text.ts';
import type { ChatRequest } from '../openai/types.ts';
import type { DecodedReply } from '../providers/provider.ts';
import { attempt } from './attempt.ts';
import { isRouteSpecific, mayTryNext } from './faults.ts';
import type { Call, Gate, Watcher } from './gate.ts';
import type { StreamSource } from './relay.ts';
import { routesInOrder } from './routes-in-order.ts';
import type { ServedBy, Toll } from './toll.ts';

/** A request to send, and the context that the attempts need. */
export interface Dispatch {
  readonly call: Call;
  readonly chat: ChatRequest;
  /** As in Target. */
  readonly source: RequestText | undefined;
  readonly model: Model;
  readonly toll: Pick<Toll, 'accountId' | 'affordRest'>;
  readonly outputTokensMax: number | undefined;
  /** As in Target. */
  readonly carried?: ReadonlyMap<string, string>;
  readonly continuation?: string;
  /** As in ReplyContext. */
  readonly choiceIndex?: number;
  /** The client wants a whole answer. If the provider answers a streaming request with one, it is taken as it is. */
  readonly takesWhole?: true;
  /** Ends the exchange early, where the call itself does not. */
  readonly watcher?: Watcher;
  /** When all exchanges of one attempt must be over, by `performance.now()`. */
  readonly endsAtMs?: number;
}

/** The facts that every answer carries. */
interface AnswerFacts extends ServedBy {
  /** Fields of the request that the provider cannot honour. */
  readonly dropped: readonly string[];
}

/** An answer that is complete. */
export interface WholeAnswer extends AnswerFacts {
  readonly type: 'whole';
  readonly reply: DecodedReply;
  /** How many times the input was read for it. */
  readonly prompts: number;
}

/** A stream whose first chunk has arrived. */
export interface StreamAnswer extends AnswerFacts {
  readonly type: 'stream';
  readonly source: StreamSource;
  readonly wantsUsage: boolean;
  readonly apiKey: string | undefined;
}

/** An answer of a provider: complete, or a stream. */
export type Answer = WholeAnswer | StreamAnswer;

/**
 * Sends a request along the model's routes until one answers. A route that is paused for its failures moves to the end of the queue,
 * in case no other route can carry the request.
 */
export async function send(gate: Gate, dispatch: Dispatch): Promise<Answer> {
  let failure: GatewayError | undefined;
  const routes = routesInOrder(dispatch.model.routes);
  const queue = [...routes];
  for (const [position, route] of queue.entries()) {
    const provider = gate.config.providers.get(route.provider);
    if (provider === undefined) continue;
    const hasFailed = failure !== undefined && !isRouteSpecific(failure);
    const isSecondRound = position >= routes.length;
    if (isSecondRound && hasFailed) break;
    if (!isSecondRound && !gate.routeHealth.mayTry(route)) {
      queue.push(route);
      continue;
    }
    const beganAtMs = performance.now();
    try {
      const answer = await attempt(gate, dispatch, { route, provider });
      gate.routeHealth.answered(route);
      return answer;
    } catch (thrown) {
      const error = thrown as GatewayError;
      // A fallback that cannot carry the request does not explain why the earlier routes failed, so their failure is kept.
      if (failure === undefined || !isRouteSpecific(error)) failure = error;
      // The client left and the gate ended the attempt, so the provider did not fail.
      if (dispatch.call.isClientGone) {
        gate.routeHealth.inconclusive(route);
        break;
      }
      gate.routeHealth.failed(route, error);
      const durationMs = Math.round(performance.now() - beganAtMs);
      dispatch.call.failedAttempts.push({ provider: provider.id, outcome: error.errorName, durationMs });
      gate.log.attemptFailed({ requestId: dispatch.call.id, model: dispatch.model.id, provider: provider.id, error });
      if (!mayTryNext(error)) break;
    }
  }
  throw failure ?? new GatewayError('internal_error', 'The model has no configured route.');
}
