import type { JsonObject } from '../../openai/types.ts';
import type { Capabilities } from './capabilities.ts';

const CACHE_POINTS_MAX = 4;

/** The cache points of one request: few are allowed. */
export class CachePoints {
  readonly #able: Capabilities;
  #count = 0;
  /** True when there were more marks than points. */
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
}
