import type { JsonObject } from '../../openai/types.ts';
import type { Capabilities } from './capabilities.ts';

const CACHE_POINTS_MAX = 4;

/** The cache points of one request: few are allowed. */
export class CachePoints {
  readonly #able: Capabilities;
  #count = 0;
  /** True when a mark got no point. */
  isShort = false;

  constructor(able: Capabilities) {
    this.#able = able;
  }

  /** What stands behind something that is marked. */
  after(isCacheBreak: boolean): JsonObject[] {
    if (!isCacheBreak || !this.#able.hasCachePoints) return [];
    if (this.#count === CACHE_POINTS_MAX) {
      this.isShort = true;
      return [];
    }
    this.#count += 1;
    return [{ cachePoint: { type: 'default' } }];
  }

  /** What stands behind the result of a tool: inside of it there is no place, and Nova takes no point behind it either. */
  afterResult(isCacheBreak: boolean): JsonObject[] {
    if (this.#able.hasCachedTools) return this.after(isCacheBreak);
    if (isCacheBreak && this.#able.hasCachePoints) this.isShort = true;
    return [];
  }
}
