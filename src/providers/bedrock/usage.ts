import { isObject, type WireUsage } from '../../openai/types.ts';
import { isCount } from '../../openai/usage.ts';
import { promptTokens, totalTokens, type TokenUsage } from '../../tokens.ts';

/** Converse counts what was read from and written to the cache beside the input. Undefined when a count cannot be true. */
export function readUsage(value: unknown): TokenUsage | undefined {
  if (!isObject(value)) return undefined;
  const input = value['inputTokens'];
  const output = value['outputTokens'];
  const cached = value['cacheReadInputTokens'] ?? 0;
  const written = value['cacheWriteInputTokens'] ?? 0;
  if (!isCount(input) || !isCount(output) || !isCount(cached) || !isCount(written)) return undefined;
  // Thinking is counted as output and not told apart.
  return { inputTokens: input, cachedInputTokens: cached, cacheWriteTokens: written, outputTokens: output, reasoningTokens: 0 };
}

/** The counts as the dialect spells them. */
export function writeUsage(usage: TokenUsage): WireUsage {
  return {
    prompt_tokens: promptTokens(usage),
    completion_tokens: usage.outputTokens,
    total_tokens: totalTokens(usage),
    prompt_tokens_details: { cached_tokens: usage.cachedInputTokens, cache_write_tokens: usage.cacheWriteTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
}
