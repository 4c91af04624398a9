import type { Endpoint } from './candidates/candidate.ts';

/** How hard, how long and with what an endpoint is called. */
export interface LoadPlan {
  readonly endpoint: Endpoint;
  readonly kind: 'json' | 'stream';
  readonly connections: number;
  readonly seconds: number;
}

/** What the caller saw. `faults` is empty in a valid run. */
export interface LoadResult {
  readonly completed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly faults: readonly string[];
}

/** Sends load until the time is over, each connection one request at a time. */
export type LoadGenerator = (plan: LoadPlan) => Promise<LoadResult>;

/** The one request that every candidate gets; only the model's name differs. */
export function encodeBody(model: string, kind: LoadPlan['kind']): string {
  const messages = [
    { role: 'system', content: 'You are a helpful assistant.' },
    { role: 'user', content: 'Say hello to everybody in the room, please.' },
  ];
  const body = { model, messages, max_tokens: 256 };
  if (kind === 'json') return JSON.stringify(body);
  return JSON.stringify({ ...body, stream: true, stream_options: { include_usage: true } });
}

/** Names what went wrong and how often, and leaves out what did not. */
export function describeFaults(counts: Readonly<Record<string, number>>): readonly string[] {
  return Object.entries(counts).flatMap(([fault, count]) => (count > 0 ? [`${count} ${fault}`] : []));
}
