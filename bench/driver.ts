import { setTimeout as sleep } from 'node:timers/promises';
import { describeFaults, encodeBody, type LoadPlan, type LoadResult } from './load.ts';
import { type Answer, renderRequest, SocketClient } from './socket-client.ts';

const RETRY_PAUSE_MS = 20;

/** Generates load with raw sockets in this process, for machines without wrk. Stops when the time is over. */
export function runTimedLoad(plan: LoadPlan): Promise<LoadResult> {
  const deadlineMs = performance.now() + plan.seconds * 1000;
  return drive(plan, () => performance.now() < deadlineMs);
}

/** Generates load at a steady low rate, to measure how long a call takes without queueing. */
export function runSteadyLoad(plan: LoadPlan, requestsPerSecond: number): Promise<LoadResult> {
  const beganAtMs = performance.now();
  const gapMs = (1000 * plan.connections) / requestsPerSecond;
  return drive(plan, (sent) => sent * gapMs < plan.seconds * 1000, {
    // The connections send at staggered times.
    untilTurn: (connection, sent) =>
      sleep(Math.max(0, beganAtMs + (connection * gapMs) / plan.connections + sent * gapMs - performance.now())),
  });
}

/** Opens all connections at once, sends one request on each, and waits for every response. */
export function runOnceOnEach(plan: Omit<LoadPlan, 'seconds'>): Promise<LoadResult> {
  return drive(plan, (sent) => sent === 0);
}

type Tally = { readonly latenciesMs: number[]; refused: number; incomplete: number; broken: number };

type Drive = Omit<LoadPlan, 'seconds'>;

interface Beat {
  untilTurn(connection: number, sent: number): Promise<unknown>;
}

async function drive(plan: Drive, goesOn: (sent: number) => boolean, beat?: Beat): Promise<LoadResult> {
  const tally: Tally = { latenciesMs: [], refused: 0, incomplete: 0, broken: 0 };
  const connections = Array.from({ length: plan.connections }, (_, connection) =>
    driveConnection(plan, tally, { goesOn, untilTurn: (sent) => beat?.untilTurn(connection, sent) }),
  );
  await Promise.all(connections);
  const sortedMs = tally.latenciesMs.toSorted((left, right) => left - right);
  return {
    completed: sortedMs.length,
    p50Ms: percentile(sortedMs, 0.5),
    p99Ms: percentile(sortedMs, 0.99),
    faults: describeFaults({
      'answers were not 200': tally.refused,
      'answers were not whole': tally.incomplete,
      'connections broke': tally.broken,
    }),
  };
}

interface Turns {
  goesOn(sent: number): boolean;
  untilTurn(sent: number): Promise<unknown> | undefined;
}

async function driveConnection(plan: Drive, tally: Tally, turns: Turns): Promise<void> {
  const url = new URL(plan.endpoint.url);
  const request = renderRequest(url, plan.endpoint.headers, encodeBody(plan.endpoint.model, plan.kind));
  let client: SocketClient | undefined;
  for (let sent = 0; turns.goesOn(sent); sent += 1) {
    await turns.untilTurn(sent);
    try {
      client ??= await SocketClient.open(Number(url.port));
      const startMs = performance.now();
      const answer = await client.send(request);
      tally.latenciesMs.push(performance.now() - startMs);
      countAnswer(plan.kind, answer, tally);
    } catch {
      // The fault is counted and makes the run invalid. The next turn opens a new connection.
      tally.broken += 1;
      client?.close();
      client = undefined;
      await sleep(RETRY_PAUSE_MS);
    }
  }
  client?.close();
}

function countAnswer(kind: LoadPlan['kind'], answer: Answer, tally: Tally): void {
  if (answer.status !== 200) tally.refused += 1;
  else if (kind === 'stream' && !answer.body.includes('data: [DONE]')) tally.incomplete += 1;
}

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
