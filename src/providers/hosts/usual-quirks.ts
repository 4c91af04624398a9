import type { JsonObject } from '../../openai/types.ts';
import type { LimitHeaders, MessageQuirks, ModelQuirks, RequestQuirks } from '../host.ts';

/** OpenAI's own fields that hosts without strict checks ignore and hosts with them refuse. */
export const OPENAI_ONLY = [
  'store',
  'metadata',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'verbosity',
  'prediction',
  'moderation',
  'modalities',
  'audio',
  'web_search_options',
];
/** Fields that often go together. */
export const LOGPROBS = ['logprobs', 'top_logprobs'];
export const PENALTIES = ['presence_penalty', 'frequency_penalty'];

/** What every host but OpenAI wants: the older role and limit, and no nulls. */
export const MESSAGES: MessageQuirks = { roles: { developer: 'system' }, stripsNulls: true };
/** Of hosts that refuse a field which they do not know. */
export const STRICT_MESSAGES: MessageQuirks = { ...MESSAGES, stripsExtensions: true, drops: ['refusal', 'annotations', 'audio'] };
/** Of those that refuse the name of who speaks as well. */
export const NAMELESS_MESSAGES: MessageQuirks = { ...STRICT_MESSAGES, drops: ['name', 'refusal', 'annotations', 'audio'] };
/** What most hosts want of a request, and nothing else. Marks for a cache are of no use to them. */
export const COMMON: RequestQuirks = { renames: { max_completion_tokens: 'max_tokens' }, cacheMarks: 'none', messages: MESSAGES };

export const OPENAI_LIMITS: LimitHeaders = {
  remaining: ['x-ratelimit-remaining-requests', 'x-ratelimit-remaining-tokens'],
  retryAfter: 'seconds',
};

export const NO_THINKING = { thinking: { type: 'disabled' } };
export const THINKING = { thinking: { type: 'enabled' } };
/** Thinking that is switched, not measured. */
export const SWITCHED_THINKING = {
  none: NO_THINKING,
  minimal: THINKING,
  low: THINKING,
  medium: THINKING,
  high: THINKING,
  xhigh: THINKING,
  max: THINKING,
};

/** Efforts that a model does not know become the nearest that it does. */
export function nearest(efforts: Readonly<Record<string, string>>): Readonly<Record<string, JsonObject>> {
  return Object.fromEntries(Object.entries(efforts).map(([effort, reasoning_effort]) => [effort, { reasoning_effort }] as const));
}

/** Three efforts, of models that always reason. */
export const LOW_TO_HIGH = nearest({ none: 'low', minimal: 'low', xhigh: 'high', max: 'high' });
/** Two efforts, of which one is none. */
export const NONE_OR_HIGH = nearest({ minimal: 'none', low: 'high', medium: 'high', xhigh: 'high', max: 'high' });

export const GPT_OSS: ModelQuirks = { pattern: /gpt-oss/u, drops: [], efforts: LOW_TO_HIGH };
