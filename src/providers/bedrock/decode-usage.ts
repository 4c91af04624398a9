import { isObject } from '../../openai/types.ts';
import { isCount } from '../../openai/usage.ts';
import type { TokenUsage } from '../../tokens.ts';

/** Reads the usage. Converse counts cache reads and writes in addition to the input. Returns undefined when a count is implausible. */
export function decodeUsage(value: unknown): TokenUsage | undefined {
  if (!isObject(value)) return undefined;
  const input = value['inputTokens'];
  const output = value['outputTokens'];
  const cached = value['cacheReadInputTokens'] ?? 0;
  const written = value['cacheWriteInputTokens'] ?? 0;
  if (!isCount(input) || !isCount(output) || !isCount(cached) || !isCount(written)) return undefined;
  // Thinking is included in the output and not reported separately.
  return { inputTokens: input, cachedInputTokens: cached, cacheWriteTokens: written, outputTokens: output, reasoningTokens: 0 };
}
