import type { JsonObject } from '../../openai/types.ts';
import type { LimitHeaders, MessageQuirks, ModelQuirks, RequestQuirks } from '../host.ts';

/** Fields specific to OpenAI. Lenient hosts ignore them and strict hosts refuse them. */
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
/** Fields that are usually dropped together. */
export const LOGPROBS = ['logprobs', 'top_logprobs'];
export const PENALTIES = ['presence_penalty', 'frequency_penalty'];

/** Message requirements of every host but OpenAI: the older role for system messages, and the basic schema. */
export const MESSAGES: MessageQuirks = { roles: { developer: 'system' }, hasBasicSchema: true };
/** Message requirements of hosts that refuse unknown fields. */
export const STRICT_MESSAGES: MessageQuirks = { ...MESSAGES, stripsExtensions: true, drops: ['annotations', 'audio'] };
/** Message requirements of hosts that also refuse the speaker's name. */
export const NAMELESS_MESSAGES: MessageQuirks = { ...STRICT_MESSAGES, drops: ['name', 'annotations', 'audio'] };
/** The request changes that most hosts need. Cache marks are of no use to them. */
export const COMMON: RequestQuirks = { renames: { max_completion_tokens: 'max_tokens' }, cacheMarks: 'none', messages: MESSAGES };

export const OPENAI_LIMITS: LimitHeaders = {
  remaining: ['x-ratelimit-remaining-requests', 'x-ratelimit-remaining-tokens'],
  retryAfter: 'seconds',
};

export const NO_THINKING = { thinking: { type: 'disabled' } };

/** Returns the efforts of models whose thinking is either on or off. */
function switched(on: string): Readonly<Record<string, JsonObject>> {
  const thinking = { thinking: { type: on } };
  return { none: NO_THINKING, minimal: thinking, low: thinking, medium: thinking, high: thinking, xhigh: thinking, max: thinking };
}

export const SWITCHED_THINKING = switched('enabled');
export const ADAPTIVE_THINKING = switched('adaptive');

/** Maps efforts a model does not support to the nearest one it does. */
export function nearest(efforts: Readonly<Record<string, string>>): Readonly<Record<string, JsonObject>> {
  return Object.fromEntries(Object.entries(efforts).map(([effort, reasoning_effort]) => [effort, { reasoning_effort }] as const));
}

/** Three efforts, for models that always reason. */
export const LOW_TO_HIGH = nearest({ none: 'low', minimal: 'low', xhigh: 'high', max: 'high' });
/** Three efforts up to the highest, for models that always reason. */
export const LOW_HIGH_MAX = nearest({ none: 'low', minimal: 'low', medium: 'high', xhigh: 'max' });
/** Two efforts, one of which is none. */
export const NONE_OR_HIGH = nearest({ minimal: 'none', low: 'high', medium: 'high', xhigh: 'high', max: 'high' });

/** The prompt template that comes with these models refuses system messages after the first. */
export const QWEN: ModelQuirks = { pattern: /[Qq]wen-?3[.p][5-9]/u, drops: [], messages: { joinsSystem: true } };

export const GPT_OSS: ModelQuirks = { pattern: /gpt-oss/u, drops: [], efforts: LOW_TO_HIGH };
