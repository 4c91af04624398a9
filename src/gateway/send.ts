import { GatewayError, toGatewayError } from '../errors.ts';
import type { Answer } from './answer.ts';
import { attempt } from './attempt.ts';
import type { Dispatch } from './dispatch.ts';
import { isRouteSpecific, mayTryNext } from './faults.ts';
import type { Gate } from './gate.ts';
import { routesInOrder } from './routes-in-order.ts';

/**
 * Sends a request along the model's routes until one answers. A route that is paused for its failures moves to the end of the queue,
 * in case no other route can carry the request.
 */
export async function send(gate: Gate, dispatch: Dispatch): Promise<Answer> {
  let failure: GatewayError | undefined;
  const routes = routesInOrder(dispatch.model.routes);
  const queue = [...routes];
  let position = -1;
  for (const route of queue) {
    position += 1;
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
      const error = toGatewayError(thrown);
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
