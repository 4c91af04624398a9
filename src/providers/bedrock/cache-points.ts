import type { JsonObject } from '../../openai/types.ts';
import type { Capabilities } from './capabilities.ts';

const CACHE_POINTS_MAX = 4;

/** The cache points of one request, of which only a few are allowed. */
export class CachePoints {
  readonly #capabilities: Capabilities;
  #count = 0;
  /** True when a mark got no cache point. */
  hasLostMark = false;

  constructor(capabilities: Capabilities) {
    this.#capabilities = capabilities;
  }

  /** Returns the cache point to put after a marked block, if any. */
  after(isCacheBreak: boolean): JsonObject[] {
    if (!isCacheBreak || !this.#capabilities.hasCachePoints) return [];
    if (this.#count === CACHE_POINTS_MAX) {
      this.hasLostMark = true;
      return [];
    }
    this.#count += 1;
    return [{ cachePoint: { type: 'default' } }];
  }

  /** Returns the cache point to put after a tool result. A result cannot contain one, and Nova does not accept one after it either. */
  afterResult(isCacheBreak: boolean): JsonObject[] {
    return this.#capabilities.hasCachedTools ? this.after(isCacheBreak) : this.#lose(isCacheBreak);
  }

  /** Returns the cache point to put after a file. It is accepted after a PDF only: other files become text, which loses the point. */
  afterDocument(isCacheBreak: boolean, format: unknown): JsonObject[] {
    return format === 'pdf' ? this.after(isCacheBreak) : this.#lose(isCacheBreak);
  }

  #lose(isCacheBreak: boolean): JsonObject[] {
    if (isCacheBreak && this.#capabilities.hasCachePoints) this.hasLostMark = true;
    return [];
  }
}
