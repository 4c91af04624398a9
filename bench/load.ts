import type { Endpoint } from './candidates/candidate.ts';

/** How hard, how long and with what an endpoint is called. */
export interface LoadPlan {
  readonly endpoint: Endpoint;
  readonly kind: 'json' | 'long' | 'stream';
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

/** What people and programs have said before in a long conversation, with the marks that such texts are full of: 32 kB. */
const TURNS = 48;
const TURN = 'She said "hello" to 12345 dogs;\n\tthen `const answer = 42;` was typed, and nobody knew why. '.repeat(7);

/** The one request that every candidate gets, of each kind; only the model's name differs. */
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

/** Names what went wrong and how often, and leaves out what did not. */
export function describeFaults(counts: Readonly<Record<string, number>>): readonly string[] {
  return Object.entries(counts).flatMap(([fault, count]) => (count > 0 ? [`${count} ${fault}`] : []));
}
