import { MINUTE_MS } from '../durations.ts';

/** The limits of one key. */
export interface KeyLimits {
  readonly requestsPerMinute: number;
  readonly tokensPerMinute: number;
  readonly concurrent: number;
}

/** The state of a key's limits, for the `x-ratelimit-*` headers. */
export interface LimitState {
  readonly limits: KeyLimits;
  readonly remainingRequests: number;
  readonly remainingTokens: number;
  readonly resetRequestsMs: number;
  readonly resetTokensMs: number;
}

/** An admitted request. It must be released exactly once, with the tokens it really used. */
export interface Admission {
  readonly type: 'admitted';
  readonly state: LimitState;
  release(tokensUsed: number): void;
}

/** The kinds of limits. */
export type LimitName = 'requests' | 'tokens' | 'concurrent';

/** A refused request: the limit it exceeds, and how long until the same request fits. Undefined means never. */
export interface LimitRefusal {
  readonly type: 'refused';
  readonly limit: LimitName;
  readonly retryAfterMs: number | undefined;
  readonly state: LimitState;
}

/** The limits set on a key itself. Where one is absent, the default applies. */
export type OwnLimits = { readonly [Limit in keyof KeyLimits]?: number | undefined };

/** The current state of a key's limits, and its number of open requests. */
export interface KeyUse extends LimitState {
  readonly open: number;
}

/** Counts requests, tokens and open requests per key. */
export interface Limits {
  /**
   * Admits a request or refuses it, at once where nothing has to be asked. `tokensExpected` is an estimate from before the provider call; the
   * release corrects it.
   */
  admit(keyId: string, limits: KeyLimits, tokensExpected: number): Admission | LimitRefusal | Promise<Admission | LimitRefusal>;
  /** Returns the current state of a key, without a request. */
  stateOf(keyId: string, limits: KeyLimits): Promise<KeyUse>;
  close(): Promise<void>;
}

/**
 * The remaining allowance of a key. Requests and tokens are buckets that hold a minute's worth and fill steadily. The token bucket may
 * go below zero when a request used more than expected.
 */
export interface Levels {
  readonly requests: number;
  readonly tokens: number;
  readonly open: number;
}

const CONCURRENT_RETRY_MS = 1000;

/** Returns the limit that a request with these tokens would exceed, if any. */
export function exceededLimit(levels: Levels, limits: KeyLimits, tokensExpected: number): LimitName | undefined {
  if (levels.open >= limits.concurrent) return 'concurrent';
  if (levels.requests < 1) return 'requests';
  return levels.tokens < tokensExpected ? 'tokens' : undefined;
}

/** Refuses a request because of an exceeded limit. */
export function refuse(limit: LimitName, levels: Levels, limits: KeyLimits, tokensExpected: number): LimitRefusal {
  return { type: 'refused', limit, retryAfterMs: retryAfterMs(limit, levels, limits, tokensExpected), state: stateAt(levels, limits) };
}

/** Converts levels to the state that is reported. */
export function stateAt(levels: Levels, limits: KeyLimits): LimitState {
  return {
    limits,
    remainingRequests: Math.max(0, Math.floor(levels.requests)),
    remainingTokens: Math.max(0, Math.floor(levels.tokens)),
    resetRequestsMs: fillMs(limits.requestsPerMinute - levels.requests, limits.requestsPerMinute),
    resetTokensMs: fillMs(limits.tokensPerMinute - levels.tokens, limits.tokensPerMinute),
  };
}

function retryAfterMs(limit: LimitName, levels: Levels, limits: KeyLimits, tokensExpected: number): number | undefined {
  switch (limit) {
    case 'concurrent':
      return CONCURRENT_RETRY_MS;
    case 'requests':
      return fillMs(1 - levels.requests, limits.requestsPerMinute);
    case 'tokens':
      return tokensExpected > limits.tokensPerMinute ? undefined : fillMs(tokensExpected - levels.tokens, limits.tokensPerMinute);
  }
}

/** How long a bucket takes to fill by this much. */
function fillMs(missing: number, perMinute: number): number {
  return Math.ceil((missing * MINUTE_MS) / perMinute);
}
