import { MINUTE_MS } from '../durations.ts';
import {
  exceededLimit,
  refuse,
  stateAt,
  type Admission,
  type KeyLimits,
  type KeyUse,
  type Levels,
  type Limits,
  type LimitRefusal,
} from './limits.ts';

/** Keys idle long enough to have full buckets are dropped, so memory use follows the active keys only. */
const SWEEP_INTERVAL_MS = MINUTE_MS;

/** The levels of a key when it was last used, and the limits they belong to. */
interface KeyState {
  levels: Levels;
  limits: KeyLimits;
  atMs: number;
}

/** The limits of one process, in memory, by a monotonic clock. */
export class MemoryLimits implements Limits {
  readonly #keys = new Map<string, KeyState>();
  readonly #now: () => number;
  #sweptAtMs: number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#sweptAtMs = now();
  }

  admit(keyId: string, limits: KeyLimits, tokensExpected: number): Admission | LimitRefusal {
    const nowMs = this.#now();
    this.#sweep(nowMs);
    const key = this.#keys.get(keyId) ?? fresh(limits, nowMs);
    const levels = levelsAt(key, limits, nowMs);
    const limit = exceededLimit(levels, limits, tokensExpected);
    if (limit !== undefined) return refuse(limit, levels, limits, tokensExpected);
    const left = { requests: levels.requests - 1, tokens: levels.tokens - tokensExpected, open: levels.open + 1 };
    save(key, left, limits, nowMs);
    this.#keys.set(keyId, key);
    return { type: 'admitted', state: stateAt(left, limits), release: this.#releaseOnce(key, limits, tokensExpected) };
  }

  async stateOf(keyId: string, limits: KeyLimits): Promise<KeyUse> {
    const nowMs = this.#now();
    const levels = levelsAt(this.#keys.get(keyId) ?? fresh(limits, nowMs), limits, nowMs);
    return { ...stateAt(levels, limits), open: levels.open };
  }

  async close(): Promise<void> {
    this.#keys.clear();
  }

  #releaseOnce(key: KeyState, limits: KeyLimits, tokensExpected: number): (tokensUsed: number) => void {
    let isReleased = false;
    return (tokensUsed) => {
      if (isReleased) return;
      isReleased = true;
      const nowMs = this.#now();
      const { requests, tokens, open } = levelsAt(key, limits, nowMs);
      save(key, { requests, tokens: tokens + (tokensExpected - tokensUsed), open: open - 1 }, limits, nowMs);
    };
  }

  #sweep(nowMs: number): void {
    if (nowMs - this.#sweptAtMs < SWEEP_INTERVAL_MS) return;
    this.#sweptAtMs = nowMs;
    for (const [keyId, key] of this.#keys) if (isFull(key, nowMs)) this.#keys.delete(keyId);
  }
}

function fresh(limits: KeyLimits, nowMs: number): KeyState {
  return { levels: { requests: limits.requestsPerMinute, tokens: limits.tokensPerMinute, open: 0 }, limits, atMs: nowMs };
}

/** Whether a key is as good as unused. Paying off a token debt may take many minutes. */
function isFull(key: KeyState, nowMs: number): boolean {
  const { requests, tokens, open } = levelsAt(key, key.limits, nowMs);
  return open === 0 && requests >= key.limits.requestsPerMinute && tokens >= key.limits.tokensPerMinute;
}

/** Returns the current levels: both buckets fill with time. If the clock goes back, they fill from there on. */
function levelsAt(key: KeyState, { requestsPerMinute, tokensPerMinute }: KeyLimits, nowMs: number): Levels {
  key.atMs = Math.min(key.atMs, nowMs);
  const elapsedMs = nowMs - key.atMs;
  return {
    requests: Math.min(requestsPerMinute, key.levels.requests + (elapsedMs * requestsPerMinute) / MINUTE_MS),
    tokens: Math.min(tokensPerMinute, key.levels.tokens + (elapsedMs * tokensPerMinute) / MINUTE_MS),
    open: key.levels.open,
  };
}

function save(key: KeyState, levels: Levels, limits: KeyLimits, nowMs: number): void {
  key.levels = levels;
  key.limits = limits;
  key.atMs = nowMs;
}
