import { isObject } from '../../openai/types.ts';
import { isCount } from '../../openai/usage.ts';
import type { TokenUsage } from '../../tokens.ts';

/** Converse counts what was read from and written to the cache beside the input. Undefined when a count cannot be true. */
export function decodeUsage(value: unknown): TokenUsage | undefined {
  if (!isObject(value)) return undefined;
  const input = value['inputTokens'];
  const output = value['outputTokens'];
  const cached = value['cacheReadInputTokens'] ?? 0;
  const written = value['cacheWriteInputTokens'] ?? 0;
  if (!isCount(input) || !isCount(output) || !isCount(cached) || !isCount(written)) return undefined;
  // Thinking is counted as output and not told apart.
  return { inputTokens: input, cachedInputTokens: cached, cacheWriteTokens: written, outputTokens: output, reasoningTokens: 0 };
}
