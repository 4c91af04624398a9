import { isObject, type WireUsage } from '../../openai/types.ts';
import { isCount, readUsage, writeDetailedUsage } from '../../openai/usage.ts';
import type { TokenUsage } from '../../tokens.ts';

/** Token counts as charged and as reported to the caller. */
export interface DecodedUsage {
  readonly usage: TokenUsage;
  readonly wireUsage: WireUsage;
}

/**
 * Reads Google's counts. Cached tokens are included in the prompt count. Thoughts are counted in addition to the
 * candidates, and tool input in addition to the prompt. Google omits counts of zero, but a missing prompt count means
 * that nothing was counted.
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
