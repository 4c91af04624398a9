import type { Model } from '../catalog/catalog.ts';
import { GatewayError } from '../errors.ts';
import type { RequestText } from '../openai/request-text.ts';
import type { ChatRequest } from '../openai/types.ts';
import type { DecodedReply } from '../providers/provider.ts';
import { attempt } from './attempt.ts';
import { isOfRoute, mayTryNext } from './faults.ts';
import type { Call, Gate, Watcher } from './gate.ts';
import type { StreamSource } from './relay.ts';
import { routesInOrder } from './routes-in-order.ts';
import type { Answerer, Toll } from './toll.ts';

/** What is sent, for whom. */
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
  /** The caller wants the answer whole, and takes it so also where the provider was asked for a stream. */
  readonly takesWhole?: true;
  /** Who ends the exchange early, where that is not the call itself. */
  readonly watcher?: Watcher;
  /** When all exchanges of one try must be over, by `performance.now()`. */
  readonly endsAtMs?: number;
}

interface AnswerFacts extends Answerer {
  /** Fields of the request that the provider has no way to honour. */
  readonly dropped: readonly string[];
}

/** All of an answer. */
export interface WholeAnswer extends AnswerFacts {
  readonly type: 'whole';
  readonly reply: DecodedReply;
  /** How often the input was read for it. */
  readonly prompts: number;
}

/** A stream whose first chunk is here. */
export interface StreamAnswer extends AnswerFacts {
  readonly type: 'stream';
  readonly source: StreamSource;
  readonly wantsUsage: boolean;
  readonly apiKey: string | undefined;
}

export type Answer = WholeAnswer | StreamAnswer;

/** Sends a request along the model's routes until one answers. A route that is left out for its failures is put at the end of the line, in case no other can carry the request. */
export async function send(gate: Gate, dispatch: Dispatch): Promise<Answer> {
  let failure: GatewayError | undefined;
  const routes = routesInOrder(dispatch.model.routes);
  const line = [...routes];
  for (const [place, route] of line.entries()) {
    const provider = gate.config.providers.get(route.provider);
    if (provider === undefined) continue;
    const hasFailed = failure !== undefined && !isOfRoute(failure);
    const isLastHope = place >= routes.length;
    if (isLastHope && hasFailed) break;
    if (!isLastHope && !gate.routeHealth.mayTry(route)) {
      line.push(route);
      continue;
    }
    const beganAtMs = performance.now();
    try {
      const answer = await attempt(gate, dispatch, { route, provider });
      gate.routeHealth.answered(route);
      return answer;
    } catch (thrown) {
      const error = thrown as GatewayError;
      // That a stand-in cannot carry the request is no answer to why the others failed.
      if (failure === undefined || !isOfRoute(error)) failure = error;
      // We broke it off because nobody waits any more: that is no failure of the provider.
      if (dispatch.call.isClientGone) {
        gate.routeHealth.unknown(route);
        break;
      }
      gate.routeHealth.failed(route, error);
      const durationMs = Math.round(performance.now() - beganAtMs);
      dispatch.call.failedAttempts.push({ provider: provider.id, outcome: error.errorName, durationMs });
      gate.log.attemptFailed({ requestId: dispatch.call.id, model: dispatch.model.id, provider: provider.id, error });
      if (!mayTryNext(error)) break;
    }
  }
  throw failure ?? new GatewayError('internal_error', 'The model has no route.');
}
