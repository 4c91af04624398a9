/** What one key may use at most. */
export interface KeyLimits {
  readonly requestsPerMinute: number;
  readonly tokensPerMinute: number;
  readonly concurrent: number;
}

/** Where a key stands against its limits, for the `x-ratelimit-*` headers. */
export interface LimitState {
  readonly limits: KeyLimits;
  readonly remainingRequests: number;
  readonly remainingTokens: number;
  readonly resetRequestsMs: number;
  readonly resetTokensMs: number;
}

/** A request that was let in. It must be released exactly once, with the tokens it really used. */
export interface Admission {
  readonly type: 'admitted';
  readonly state: LimitState;
  release(tokensUsed: number): void;
}

export type LimitName = 'requests' | 'tokens' | 'concurrent';

/** Which limit stood in the way, and after how long the same request fits; never, when `retryAfterMs` is undefined. */
export interface Refusal {
  readonly type: 'refused';
  readonly limit: LimitName;
  readonly retryAfterMs: number | undefined;
  readonly state: LimitState;
}

/** What a key fixes for itself; absent means what everybody has. */
export type OwnLimits = { readonly [Limit in keyof KeyLimits]?: number | undefined };

/** Where a key stands at a moment, and how many of its requests are open. */
export interface KeyUse extends LimitState {
  readonly open: number;
}

/** Counts requests, tokens and open requests per key. */
export interface Limits {
  /** `tokensExpected` is a guess made before the provider is called; the release puts it right. */
  admit(keyId: string, limits: KeyLimits, tokensExpected: number): Promise<Admission | Refusal>;
  /** Where a key stands at this moment, without a request. */
  stateOf(keyId: string, limits: KeyLimits): Promise<KeyUse>;
  close(): Promise<void>;
}

/**
 * What a key has left. Requests and tokens are buckets that hold a minute's worth and fill steadily; the one of tokens may
 * go below zero when a request used more than expected.
 */
export interface Levels {
  readonly requests: number;
  readonly tokens: number;
  readonly open: number;
}

export const MINUTE_MS = 60_000;
const CONCURRENT_RETRY_MS = 1000;

/** The limit that a request with these tokens would break, if any. */
export function limitInTheWay(levels: Levels, limits: KeyLimits, tokensExpected: number): LimitName | undefined {
  if (levels.open >= limits.concurrent) return 'concurrent';
  if (levels.requests < 1) return 'requests';
  return levels.tokens < tokensExpected ? 'tokens' : undefined;
}

/** What a caller is told of the limit in the way. */
export function refusal(limit: LimitName, levels: Levels, limits: KeyLimits, tokensExpected: number): Refusal {
  return { type: 'refused', limit, retryAfterMs: retryAfterMs(limit, levels, limits, tokensExpected), state: stateAt(levels, limits) };
}

/** These levels in the words of the interface. */
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

/** How long a bucket takes to fill by so much. */
function fillMs(missing: number, perMinute: number): number {
  return Math.ceil((missing * MINUTE_MS) / perMinute);
}
