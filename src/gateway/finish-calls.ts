import { GatewayError } from '../errors.ts';
import type { Call } from './call.ts';

/** How long running answers may take to finish after the server is told to stop. docs/operations.md documents it for supervisors. */
const DRAIN_MS = 120_000;
const LAST_CHARGES_MS = 5000;
const POLL_MS = 20;

/** Lets the requests in progress finish, then ends the remaining ones and waits for their charges. */
export async function finishCalls(calls: ReadonlySet<Call>): Promise<void> {
  await untilNone(calls, DRAIN_MS);
  for (const call of calls) call.end(new GatewayError('draining', 'The server shut down before the answer was finished.'));
  await untilNone(calls, LAST_CHARGES_MS);
}

async function untilNone(calls: ReadonlySet<Call>, withinMs: number): Promise<void> {
  const deadlineMs = performance.now() + withinMs;
  while (calls.size > 0 && performance.now() < deadlineMs) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
}
