import type { Endpoint } from './candidates/candidate.ts';

/** A load: the endpoint, the kind of request, the number of connections and the duration. */
export interface LoadPlan {
  readonly endpoint: Endpoint;
  readonly kind: 'json' | 'long' | 'stream';
  readonly connections: number;
  readonly seconds: number;
  /** Keys that take turns, for endpoints without one. Only `wrk` does that. */
  readonly secrets?: readonly string[];
}

/** The client's measurements. `faults` is empty in a valid run. */
export interface LoadResult {
  readonly completed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly faults: readonly string[];
}

/** Sends load until the time is over, one request at a time per connection. */
export type LoadGenerator = (plan: LoadPlan) => Promise<LoadResult>;

/** The earlier messages of a long conversation, 32 kB with realistic punctuation. */
const TURNS = 48;
const TURN = 'She said "hello" to 12345 dogs;\n\tthen `const answer = 42;` was typed, and nobody knew why. '.repeat(7);

/** Returns the request body of each kind. It is the same for every candidate, except for the model's name. */
export function encodeBody(model: string, kind: LoadPlan['kind']): string {
  const earlier = Array.from({ length: kind === 'long' ? TURNS : 0 }, (_, turn) => ({
    role: turn % 2 === 0 ? 'user' : 'assistant',
    content: TURN,
  }));
  const messages = [
    { role: 'system', content: 'You are a helpful assistant.' },
    ...earlier,
    { role: 'user', content: 'Say hello to everybody in the room, please.' },
  ];
  const body = { model, messages, max_tokens: 256 };
  return JSON.stringify(kind === 'stream' ? { ...body, stream: true, stream_options: { include_usage: true } } : body);
}

/** Lists the faults that occurred, with their counts. */
export function describeFaults(counts: Readonly<Record<string, number>>): readonly string[] {
  return Object.entries(counts).flatMap(([fault, count]) => (count > 0 ? [`${count} ${fault}`] : []));
}
