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

/** Which limit stood in the way, and after how long the same request fits; never, when `retryAfterMs` is undefined. */
export interface Refusal {
  readonly type: 'refused';
  readonly limit: 'requests' | 'tokens' | 'concurrent';
  readonly retryAfterMs: number | undefined;
  readonly state: LimitState;
}

/** What a key uses at a moment. */
export interface KeyUse {
  readonly remainingRequests: number;
  readonly remainingTokens: number;
  readonly concurrent: number;
}

/** Counts requests, tokens and open requests per key. */
export interface Limits {
  /** `tokensExpected` is a guess made before the provider is called; the release puts it right. */
  admit(keyId: string, limits: KeyLimits, tokensExpected: number): Promise<Admission | Refusal>;
  /** What a key uses at this moment; undefined when it used nothing in the last minute. */
  usageOf(keyId: string): KeyUse | undefined;
}
