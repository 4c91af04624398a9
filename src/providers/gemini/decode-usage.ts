import { isObject, type WireUsage } from '../../openai/types.ts';
import { isCount, readUsage, writeDetailedUsage } from '../../openai/usage.ts';
import type { TokenUsage } from '../../tokens.ts';

/** Token counts as we charge them and as the caller is told them. */
export interface DecodedUsage {
  readonly usage: TokenUsage;
  readonly wireUsage: WireUsage;
}

/**
 * Reads Google's counts. Cached tokens are among the prompt's; thoughts stand beside the candidates' tokens, and what
 * tools read stands beside the prompt's. A count of nothing is left out, but a request without a prompt was not counted.
 */
export function decodeUsage(value: unknown): DecodedUsage | undefined {
  if (!isObject(value)) return undefined;
  const { promptTokenCount: prompt, toolUsePromptTokenCount: toolUse = 0, cachedContentTokenCount: cached = 0 } = value;
  const { candidatesTokenCount: candidates = 0, thoughtsTokenCount: thoughts = 0 } = value;
  if (!isCount(prompt) || !isCount(toolUse) || !isCount(candidates) || !isCount(thoughts)) return undefined;
  const usage = readUsage({
    prompt_tokens: prompt + toolUse,
    completion_tokens: candidates + thoughts,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: thoughts },
  });
  return usage === undefined ? undefined : { usage, wireUsage: writeDetailedUsage(usage) };
}
