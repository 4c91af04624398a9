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
  stateOf(keyId: string, limits: KeyLimits): KeyUse;
}
