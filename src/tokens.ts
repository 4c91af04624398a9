/** Token counts of one request in disjoint buckets: their sum is the total. Reasoning tokens are part of the output. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
}

/** The usage of a request without an answer. */
export const NO_TOKENS: TokenUsage = { inputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 0, reasoningTokens: 0 };

/** Adds the usage of two exchanges. */
export function addTokens(one: TokenUsage, other: TokenUsage): TokenUsage {
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    cachedInputTokens: one.cachedInputTokens + other.cachedInputTokens,
    cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    reasoningTokens: one.reasoningTokens + other.reasoningTokens,
  };
}

/** Returns the number of tokens that the model read. */
export function promptTokens(usage: TokenUsage): number {
  return usage.inputTokens + usage.cachedInputTokens + usage.cacheWriteTokens;
}

/** Returns the number of tokens that the model read and wrote. */
export function totalTokens(usage: TokenUsage): number {
  return promptTokens(usage) + usage.outputTokens;
}
