import type { Stage, StagedProcess } from '../stage.ts';

/** The names that `--only` accepts. */
export const CANDIDATE_NAMES = ['portkey', 'nginx', 'go', 'gate', 'bare', 'tollgate'] as const;

export type CandidateName = (typeof CANDIDATE_NAMES)[number];

/** Where and how the load is sent. */
export interface Endpoint {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly model: string;
}

/** A candidate that is running and accepts requests. */
export interface RunningCandidate {
  readonly type: 'running';
  readonly process: StagedProcess;
  readonly endpoint: Endpoint;
}

/** A candidate that is not installed on this machine. This is not a failure of the benchmark. */
export interface AbsentCandidate {
  readonly type: 'absent';
  readonly reason: string;
}

/** A program that forwards chat completions. `start` throws if it is installed but does not work. */
export interface Candidate {
  readonly name: CandidateName;
  readonly title: string;
  start(stage: Stage, upstreamOrigin: string): Promise<RunningCandidate | AbsentCandidate>;
}

/** Returns the chat completions address of an origin such as `http://127.0.0.1:9100`. */
export function chatUrl(origin: string): string {
  return `${origin}/v1/chat/completions`;
}

/** Returns the endpoint of a peer. Only Tollgate needs a real key and a model of its catalogue. */
export function plainEndpoint(origin: string): Endpoint {
  return { url: chatUrl(origin), headers: { authorization: 'Bearer x' }, model: 'gpt-x' };
}
