import type { Stage, StagedProcess } from '../stage.ts';

/** The names that `--only` takes. */
export const CANDIDATE_NAMES = ['portkey', 'nginx', 'go', 'bare', 'tollgate'] as const;

export type CandidateName = (typeof CANDIDATE_NAMES)[number];

/** Where and how the load is sent. */
export interface Endpoint {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly model: string;
}

/** A candidate that is up and takes requests. */
export interface RunningCandidate {
  readonly type: 'running';
  readonly process: StagedProcess;
  readonly endpoint: Endpoint;
}

/** A candidate that this machine does not have; never a failure of the benchmark. */
export interface AbsentCandidate {
  readonly type: 'absent';
  readonly reason: string;
}

/** Something that forwards chat completions. `start` throws when it is there but does not work. */
export interface Candidate {
  readonly name: CandidateName;
  readonly title: string;
  start(stage: Stage, upstreamOrigin: string): Promise<RunningCandidate | AbsentCandidate>;
}

/** The address of chat completions behind an origin such as `http://127.0.0.1:9100`. */
export function chatUrl(origin: string): string {
  return `${origin}/v1/chat/completions`;
}

/** What the peers are called with; Tollgate alone needs a real key and a model of its catalog. */
export function plainEndpoint(origin: string): Endpoint {
  return { url: chatUrl(origin), headers: { authorization: 'Bearer x' }, model: 'gpt-x' };
}
