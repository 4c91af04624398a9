import type { JsonObject } from '../../openai/types.ts';
import type { Capabilities } from './capabilities.ts';

const CACHE_POINTS_MAX = 4;

/** The cache points of one request, of which only a few are allowed. */
export class CachePoints {
  readonly #capabilities: Capabilities;
  /** True when a mark got no cache point. */
  hasLostMark = false;

  constructor(capabilities: Capabilities) {
    this.#capabilities = capabilities;
  }

  /** Returns the cache point to put after a marked block, if any. */
  after(isCacheBreak: boolean): JsonObject[] {
    return isCacheBreak && this.#capabilities.hasCachePoints ? [{ cachePoint: { type: 'default' } }] : [];
  }

  /** Returns the cache point to put after a tool result. A result cannot contain one, and Nova does not accept one after it either. */
  afterResult(isCacheBreak: boolean): JsonObject[] {
    return this.#capabilities.hasCachedTools ? this.after(isCacheBreak) : this.#lose(isCacheBreak);
  }

  /** Returns the cache point to put after a file. It is accepted after a PDF only: other files become text, which loses the point. */
  afterDocument(isCacheBreak: boolean, format: unknown): JsonObject[] {
    return format === 'pdf' ? this.after(isCacheBreak) : this.#lose(isCacheBreak);
  }

  /** Keeps the last cache points of the prompt, the most allowed. They cover everything before them, so they are the useful ones. */
  keepLast(lists: readonly JsonObject[][]): void {
    const excess = new Set(
      lists
        .flat()
        .filter((block) => 'cachePoint' in block)
        .slice(0, -CACHE_POINTS_MAX),
    );
    if (excess.size === 0) return;
    this.hasLostMark = true;
    for (const list of lists) {
      const kept = list.filter((block) => !excess.has(block));
      list.length = 0;
      for (const block of kept) list.push(block);
    }
  }

  #lose(isCacheBreak: boolean): JsonObject[] {
    if (isCacheBreak && this.#capabilities.hasCachePoints) this.hasLostMark = true;
    return [];
  }
}
