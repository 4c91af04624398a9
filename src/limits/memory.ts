import type { Admission, KeyLimits, KeyUse, Limits, LimitState, Refusal } from './limits.ts';

const MINUTE_MS = 60_000;
const CONCURRENT_RETRY_MS = 1000;
/** Keys that were idle long enough to have full buckets are forgotten, so memory follows the active keys only. */
const SWEEP_INTERVAL_MS = MINUTE_MS;

/** A bucket that holds a minute's worth and fills steadily. It may go below zero when a request used more than expected. */
interface Bucket {
  level: number;
  filledAtMs: number;
}

interface KeyState {
  readonly requests: Bucket;
  readonly tokens: Bucket;
  active: number;
  usedAtMs: number;
}

/** Limits of one process, in memory. */
export class MemoryLimits implements Limits {
  readonly #keys = new Map<string, KeyState>();
  readonly #now: () => number;
  #sweptAtMs: number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
    this.#sweptAtMs = now();
  }

  async admit(keyId: string, limits: KeyLimits, tokensExpected: number): Promise<Admission | Refusal> {
    const nowMs = this.#now();
    this.#sweep(nowMs);
    const key = this.#find(keyId, limits, nowMs);
    fill(key.requests, limits.requestsPerMinute, nowMs);
    fill(key.tokens, limits.tokensPerMinute, nowMs);
    const refusal = refuse(key, limits, tokensExpected);
    if (refusal !== undefined) return { type: 'refused', ...refusal, state: describe(key, limits) };

    key.requests.level -= 1;
    key.tokens.level -= tokensExpected;
    key.active += 1;
    return { type: 'admitted', state: describe(key, limits), release: this.#releaseOnce(key, tokensExpected) };
  }

  stateOf(keyId: string, limits: KeyLimits): KeyUse {
    const key = this.#keys.get(keyId) ?? fresh(limits, this.#now());
    fill(key.requests, limits.requestsPerMinute, this.#now());
    fill(key.tokens, limits.tokensPerMinute, this.#now());
    return { ...describe(key, limits), open: key.active };
  }

  #releaseOnce(key: KeyState, tokensExpected: number): (tokensUsed: number) => void {
    let isReleased = false;
    return (tokensUsed) => {
      if (isReleased) return;
      isReleased = true;
      key.active -= 1;
      key.tokens.level += tokensExpected - tokensUsed;
      key.usedAtMs = this.#now();
    };
  }

  #find(keyId: string, limits: KeyLimits, nowMs: number): KeyState {
    let key = this.#keys.get(keyId);
    if (key === undefined) {
      key = fresh(limits, nowMs);
      this.#keys.set(keyId, key);
    }
    key.usedAtMs = nowMs;
    return key;
  }

  #sweep(nowMs: number): void {
    if (nowMs - this.#sweptAtMs < SWEEP_INTERVAL_MS) return;
    this.#sweptAtMs = nowMs;
    for (const [keyId, key] of this.#keys) {
      // A debt of tokens outlives the minute; such a key is kept until it is paid.
      if (key.active === 0 && key.tokens.level >= 0 && nowMs - key.usedAtMs >= MINUTE_MS) this.#keys.delete(keyId);
    }
  }
}

function fresh(limits: KeyLimits, nowMs: number): KeyState {
  return {
    requests: { level: limits.requestsPerMinute, filledAtMs: nowMs },
    tokens: { level: limits.tokensPerMinute, filledAtMs: nowMs },
    active: 0,
    usedAtMs: nowMs,
  };
}

function fill(bucket: Bucket, perMinute: number, nowMs: number): void {
  const elapsedMs = Math.max(0, nowMs - bucket.filledAtMs);
  bucket.level = Math.min(perMinute, bucket.level + (elapsedMs * perMinute) / MINUTE_MS);
  bucket.filledAtMs = nowMs;
}

function refuse(key: KeyState, limits: KeyLimits, tokensExpected: number): Pick<Refusal, 'limit' | 'retryAfterMs'> | undefined {
  if (key.active >= limits.concurrent) return { limit: 'concurrent', retryAfterMs: CONCURRENT_RETRY_MS };
  if (key.requests.level < 1) return { limit: 'requests', retryAfterMs: waitMs(1 - key.requests.level, limits.requestsPerMinute) };
  if (tokensExpected > limits.tokensPerMinute) return { limit: 'tokens', retryAfterMs: undefined };
  if (key.tokens.level < tokensExpected) {
    return { limit: 'tokens', retryAfterMs: waitMs(tokensExpected - key.tokens.level, limits.tokensPerMinute) };
  }
  return undefined;
}

function waitMs(missing: number, perMinute: number): number {
  return Math.ceil((missing * MINUTE_MS) / perMinute);
}

function describe(key: KeyState, limits: KeyLimits): LimitState {
  return {
    limits,
    remainingRequests: Math.max(0, Math.floor(key.requests.level)),
    remainingTokens: Math.max(0, Math.floor(key.tokens.level)),
    resetRequestsMs: waitMs(limits.requestsPerMinute - key.requests.level, limits.requestsPerMinute),
    resetTokensMs: waitMs(limits.tokensPerMinute - key.tokens.level, limits.tokensPerMinute),
  };
}
