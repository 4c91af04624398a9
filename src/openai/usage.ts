import { promptTokens, totalTokens, type TokenUsage } from '../tokens.ts';
import { isObject, objectOf, type JsonObject, type WireUsage } from './types.ts';

/** More than any genuine request has. Higher counts are a provider's mistake. */
const TOKENS_MAX = 2 ** 31;

/**
 * Reads a provider's `usage` into disjoint buckets. Returns undefined when it is missing or its counts cannot be true (negative,
 * fractional, absurd, not numbers): `null` is not `0`, and a wrong count must not become a charge.
 */
export function readUsage(
  value: unknown,
  { countsReasoningApart = false }: { readonly countsReasoningApart?: boolean } = {},
): TokenUsage | undefined {
  if (!isObject(value)) return undefined;
  const prompt = value['prompt_tokens'];
  const completion = value['completion_tokens'];
  if (!isCount(prompt) || !isCount(completion)) return undefined;
  const promptDetails = objectOf(value['prompt_tokens_details']);
  const outputDetails = objectOf(value['completion_tokens_details']);
  // DeepSeek reports cache hits next to the counts instead of in the details.
  const cached = countOf(promptDetails['cached_tokens'] ?? value['prompt_cache_hit_tokens'], prompt);
  const cacheWrite = countOf(promptDetails['cache_write_tokens'], prompt - cached);
  // The total shows whether reasoning is counted separately from the completion, even at hosts not known for it.
  const reportedReasoning = outputDetails['reasoning_tokens'];
  const isSeparate =
    countsReasoningApart ||
    (isCount(reportedReasoning) && reportedReasoning > 0 && value['total_tokens'] === prompt + completion + reportedReasoning);
  const reasoning = countOf(reportedReasoning, isSeparate ? TOKENS_MAX : completion);
  return {
    inputTokens: prompt - cached - cacheWrite,
    cachedInputTokens: cached,
    cacheWriteTokens: cacheWrite,
    outputTokens: isSeparate ? completion + reasoning : completion,
    reasoningTokens: reasoning,
  };
}

/** Writes our buckets in the dialect's spelling, for answers whose provider reported nothing usable. */
export function writeUsage(usage: TokenUsage): WireUsage {
  const prompt = promptTokens(usage);
  return { prompt_tokens: prompt, completion_tokens: usage.outputTokens, total_tokens: prompt + usage.outputTokens };
}

/** Writes our buckets with their details, for dialects that spell their reports differently. */
export function writeDetailedUsage(usage: TokenUsage): WireUsage {
  return {
    prompt_tokens: promptTokens(usage),
    completion_tokens: usage.outputTokens,
    total_tokens: totalTokens(usage),
    prompt_tokens_details: { cached_tokens: usage.cachedInputTokens, cache_write_tokens: usage.cacheWriteTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
}

/** The details that OpenAI always reports, and others only where they are not zero. */
const PROMPT_DETAILS = ['cached_tokens', 'audio_tokens'];
const COMPLETION_DETAILS = ['reasoning_tokens', 'audio_tokens', 'accepted_prediction_tokens', 'rejected_prediction_tokens'];

/**
 * Completes the details of a report: clients with strict types fail when one is missing. Those with a price are as they were charged: a client
 * that subtracts more cached tokens than the prompt has would show a negative count.
 */
export function completeDetails(reported: JsonObject, charged: TokenUsage): void {
  const { prompt_tokens_details: prompt, completion_tokens_details: completion } = reported;
  if (isObject(prompt)) {
    for (const name of PROMPT_DETAILS) prompt[name] ??= 0;
    prompt['cached_tokens'] = charged.cachedInputTokens;
    if ('cache_write_tokens' in prompt) prompt['cache_write_tokens'] = charged.cacheWriteTokens;
  }
  if (isObject(completion)) {
    for (const name of COMPLETION_DETAILS) completion[name] ??= 0;
    completion['reasoning_tokens'] = charged.reasoningTokens;
  }
}

/** The fields in which hosts report what a request cost, such as OpenRouter's `cost_details` and DeepInfra's `estimated_cost`. */
const COST = /(?:^|_)cost(?:_|$)|^is_byok$/u;

/** Removes the provider's cost from a report: it concerns only the operator, and some clients would add it to our cost. */
export function dropCosts(reported: JsonObject): void {
  for (const name of Object.keys(reported)) if (COST.test(name)) delete reported[name];
}

/** Adds two reports: counts are summed at any depth, and for everything else the first value counts. */
export function addWireUsage(one: WireUsage, other: WireUsage): WireUsage {
  return addCounts(one, other) as WireUsage;
}

function addCounts(one: JsonObject, other: JsonObject): JsonObject {
  const sum: JsonObject = { ...other, ...one };
  for (const [name, value] of Object.entries(one)) {
    const added = other[name];
    if (typeof value === 'number' && typeof added === 'number') sum[name] = value + added;
    else if (value === null) sum[name] = added;
    // A number that is kept as its digits is no object of counts.
    else if (isObject(value) && isObject(added) && !JSON.isRawJSON(value)) sum[name] = addCounts(value, added);
  }
  return sum;
}

/** Whether a number is a plausible token count. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= TOKENS_MAX;
}

/** Returns a part of a whole. A part larger than the whole counts as not reported. */
function countOf(value: unknown, whole: number): number {
  return isCount(value) && value <= whole ? value : 0;
}
