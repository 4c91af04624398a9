import { isObject, objectOf, objectsOf, type JsonObject, type WireUsage } from '../../openai/types.ts';
import { isCount, writeDetailedUsage } from '../../openai/usage.ts';
import type { TokenUsage } from '../../tokens.ts';

/**
 * Reads the provider's `usage`, whose three input counts do not overlap. Returns undefined when a count is missing or
 * implausible, because a wrong count must not become a charge.
 */
export function decodeUsage(value: unknown): TokenUsage | undefined {
  if (!isObject(value)) return undefined;
  const counts = billedParts(value).map(readCounts);
  if (!counts.every((count) => count !== undefined)) return undefined;
  const sum = (name: keyof Counts): number => counts.reduce((total, count) => total + count[name], 0);
  const outputTokens = sum('output');
  const details = objectOf(value['output_tokens_details']);
  const thinking = details['thinking_tokens'];
  return {
    inputTokens: sum('input'),
    cachedInputTokens: sum('cacheRead'),
    cacheWriteTokens: sum('cacheWrite'),
    outputTokens,
    // A part cannot exceed the whole. Such a count is treated as not reported.
    reasoningTokens: isCount(thinking) && thinking <= outputTokens ? thinking : 0,
  };
}

/** Returns the usage in the OpenAI dialect. Searches are listed next to the tokens, because they have their own price. */
export function writeUsageOf(usage: TokenUsage | undefined, reported: unknown): WireUsage | undefined {
  if (usage === undefined) return undefined;
  const tools = objectOf(objectOf(reported)['server_tool_use']);
  const searches = tools['web_search_requests'];
  return {
    ...writeDetailedUsage(usage),
    ...(isCount(searches) && searches > 0 ? { server_tool_use: { web_search_requests: searches } } : {}),
  };
}

interface Counts {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
}

/**
 * Returns the usage objects to bill. A request may run in several steps. The totals leave out compaction steps, which
 * are billed. Adviser steps are billed separately. After a fallback to another model only the totals are correct.
 */
function billedParts(usage: JsonObject): readonly JsonObject[] {
  const steps = objectsOf(usage['iterations']);
  const billed = steps.filter(({ type }) => type === 'message' || type === 'compaction');
  return billed.length === 0 || steps.some(({ type }) => type === 'fallback_message') ? [usage] : billed;
}

function readCounts(usage: JsonObject): Counts | undefined {
  const { input_tokens: input, output_tokens: output } = usage;
  const cacheRead = usage['cache_read_input_tokens'] ?? 0;
  const cacheWrite = usage['cache_creation_input_tokens'] ?? 0;
  return isCount(input) && isCount(output) && isCount(cacheRead) && isCount(cacheWrite)
    ? { input, output, cacheRead, cacheWrite }
    : undefined;
}
