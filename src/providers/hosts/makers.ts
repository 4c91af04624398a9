import type { Host, MessageQuirks } from '../host.ts';
import {
  ADAPTIVE_THINKING,
  COMMON,
  LOGPROBS,
  LOW_HIGH_MAX,
  LOW_TO_HIGH,
  MESSAGES,
  NAMELESS_MESSAGES,
  nearest,
  NO_THINKING,
  NONE_OR_HIGH,
  OPENAI_LIMITS,
  OPENAI_ONLY,
  PENALTIES,
  SWITCHED_THINKING,
} from './usual-quirks.ts';
import { OPENAI_MESSAGES, OPENAI_MODELS } from './openai-models.ts';

/** While Kimi is thinking, which is the default, it refuses earlier tool calls without the thoughts that preceded them. */
const KIMI_MESSAGES: MessageQuirks = { wantsReasoningOfCalls: true };

/** Hosts run by the companies that make the models. */
export const MAKERS: Readonly<Record<string, Host>> = {
  openai: {
    name: 'OpenAI',
    baseUrl: 'https://api.openai.com/v1',
    keyVariable: 'OPENAI_API_KEY',
    // Reasoning models refuse the old name of the output limit. Every model accepts the new one.
    request: { renames: { max_tokens: 'max_completion_tokens' }, cacheMarks: 'none', messages: OPENAI_MESSAGES },
    models: OPENAI_MODELS,
    limits: OPENAI_LIMITS,
  },
  anthropic: {
    name: 'Anthropic',
    dialect: 'anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    keyVariable: 'ANTHROPIC_API_KEY',
    modelLists: ['models?limit=1000'],
    limits: { remaining: ['anthropic-ratelimit-requests-remaining', 'anthropic-ratelimit-tokens-remaining'], retryAfter: 'seconds' },
  },
  gemini: {
    name: 'Google Gemini',
    dialect: 'gemini',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    keyVariable: 'GEMINI_API_KEY',
    modelLists: ['models?pageSize=1000'],
    // The retry delay is in the error body.
    limits: { remaining: [], retryAfter: 'in the error' },
  },
  xai: {
    name: 'xAI',
    baseUrl: 'https://api.x.ai/v1',
    keyVariable: 'XAI_API_KEY',
    countsReasoningApart: true,
    request: {
      renames: { max_tokens: 'max_completion_tokens' },
      // `search_parameters` is another name for searches. A deferred answer could not be fetched later, yet would be billed.
      drops: ['search_parameters', 'deferred'],
      cacheMarks: 'none',
      messages: MESSAGES,
    },
    reply: { countsCachedApart: true, repeatsReasoning: true },
    models: [
      { pattern: /non-reasoning|^grok-(?:2|3(?!-mini))/u, drops: ['reasoning_effort'] },
      { pattern: /^grok-4\.20/u, drops: ['reasoning_effort', 'stop', ...PENALTIES] },
      { pattern: /^grok-(?:4(?:-|$)|code)/u, drops: ['reasoning_effort', 'stop', ...PENALTIES] },
      { pattern: /^grok-4\.3/u, drops: ['stop', ...PENALTIES], efforts: nearest({ minimal: 'low', xhigh: 'high', max: 'high' }) },
      { pattern: /^grok-4\.5/u, drops: ['stop', ...PENALTIES], efforts: LOW_TO_HIGH },
      {
        pattern: /^grok-4\.[67]/u,
        drops: ['stop', ...PENALTIES],
        efforts: nearest({ none: 'low', minimal: 'low', max: 'xhigh' }),
      },
      { pattern: /^grok-(?:[4-9]|3-mini)/u, drops: ['stop', ...PENALTIES] },
    ],
    limits: OPENAI_LIMITS,
  },
  deepseek: {
    name: 'DeepSeek',
    baseUrl: 'https://api.deepseek.com/v1',
    keyVariable: 'DEEPSEEK_API_KEY',
    request: {
      renames: { max_completion_tokens: 'max_tokens', user: 'user_id', safety_identifier: 'user_id' },
      drops: ['seed', 'logit_bias', 'parallel_tool_calls', 'service_tier', ...OPENAI_ONLY.filter((field) => field !== 'safety_identifier')],
      efforts: { none: NO_THINKING, ...nearest({ minimal: 'low', medium: 'high', xhigh: 'max' }) },
      reasoningFields: ['thinking'],
      isSingleChoice: true,
      toolChoice: 'unthinking',
      hasNoJsonSchema: true,
      cacheMarks: 'none',
      // Its V4 models refuse a history without reasoning.
      messages: { ...MESSAGES, wantsReasoning: true },
    },
    // Cached tokens may be reported only in its own field.
    reply: { cachedTokens: ['prompt_cache_hit_tokens'] },
  },
  mistral: {
    name: 'Mistral',
    baseUrl: 'https://api.mistral.ai/v1',
    keyVariable: 'MISTRAL_API_KEY',
    request: {
      renames: { max_completion_tokens: 'max_tokens', seed: 'random_seed' },
      // Unknown fields are answered with a 422.
      drops: ['logit_bias', 'user', 'service_tier', ...LOGPROBS, ...OPENAI_ONLY],
      // Streams report usage unasked.
      omits: ['stream_options'],
      values: { tool_choice: { required: 'any' } },
      efforts: NONE_OR_HIGH,
      cacheMarks: 'none',
      messages: {
        ...NAMELESS_MESSAGES,
        hasThinkingParts: true,
        hasShortToolIds: true,
        namesToolResults: true,
        answersResults: true,
        continues: 'prefix',
        filePart: 'document_url',
      },
    },
    reply: {
      hasThinkingParts: true,
      hasBareToolCalls: true,
      finish: { model_length: 'length' },
      faults: { error: 502 },
      cachedTokens: ['num_cached_tokens', 'prompt_token_details.cached_tokens'],
    },
    models: [
      { pattern: /^(?:mistral-large|ministral|codestral|mistral-code|devstral|pixtral|voxtral|open-)/u, drops: ['reasoning_effort'] },
      { pattern: /^zai-glm-5-3/u, drops: [], efforts: LOW_HIGH_MAX },
    ],
    limits: { remaining: ['x-ratelimit-remaining-req-minute', 'x-ratelimit-remaining-tokens-minute'] },
    billsAfterAbort: true,
  },
  moonshot: {
    name: 'Moonshot AI',
    baseUrl: 'https://api.moonshot.ai/v1',
    keyVariable: 'MOONSHOT_API_KEY',
    request: {
      ...COMMON,
      drops: ['seed', 'logit_bias', 'user', 'service_tier', 'parallel_tool_calls', ...LOGPROBS, ...OPENAI_ONLY],
      reasoningFields: ['thinking'],
      temperatureMax: 1,
      hasTypedSchemas: true,
      // Kimi returns one choice, whatever `n` is.
      isSingleChoice: true,
      messages: { ...MESSAGES, continues: 'partial' },
    },
    reply: { hasUsageInChoice: true, cachedTokens: ['cached_tokens'] },
    models: [
      {
        pattern: /^kimi-k3/u,
        drops: ['temperature', 'top_p', ...PENALTIES],
        efforts: LOW_HIGH_MAX,
        toolChoice: 'unnamed',
        messages: KIMI_MESSAGES,
      },
      {
        pattern: /^kimi-k2\.[56]/u,
        drops: ['temperature', 'top_p', ...PENALTIES],
        efforts: SWITCHED_THINKING,
        toolChoice: 'unthinking',
        messages: KIMI_MESSAGES,
      },
      // The others always think.
      {
        pattern: /^kimi/u,
        drops: ['reasoning_effort', 'temperature', 'top_p', ...PENALTIES],
        toolChoice: 'unforced',
        messages: KIMI_MESSAGES,
      },
      { pattern: /^moonshot-v1/u, drops: ['reasoning_effort'] },
    ],
  },
  cohere: {
    name: 'Cohere',
    baseUrl: 'https://api.cohere.ai/compatibility/v1',
    keyVariable: 'COHERE_API_KEY',
    // Unchecked: which fields its compatible API refuses, and that it has two efforts.
    request: {
      ...COMMON,
      drops: ['logit_bias', 'top_logprobs', 'parallel_tool_calls', 'service_tier', 'user', ...OPENAI_ONLY],
      efforts: NONE_OR_HIGH,
      isSingleChoice: true,
    },
  },
  perplexity: {
    name: 'Perplexity',
    baseUrl: 'https://api.perplexity.ai',
    keyVariable: 'PERPLEXITY_API_KEY',
    // Unchecked: which fields it ignores.
    request: {
      ...COMMON,
      drops: [
        'seed',
        'logit_bias',
        'user',
        'service_tier',
        'parallel_tool_calls',
        ...LOGPROBS,
        ...OPENAI_ONLY.filter((field) => field !== 'web_search_options'),
      ],
      isSingleChoice: true,
      messages: { ...MESSAGES, joinsSystem: true, joinsTurns: true },
    },
    alwaysSearches: true,
    billsAfterAbort: true,
  },
  zai: {
    name: 'Z.ai',
    baseUrl: 'https://api.z.ai/api/paas/v4',
    keyVariable: 'ZAI_API_KEY',
    // Unchecked: which fields it ignores.
    request: {
      renames: { max_completion_tokens: 'max_tokens', user: 'user_id', safety_identifier: 'user_id' },
      drops: ['seed', 'logit_bias', 'parallel_tool_calls', ...LOGPROBS, ...PENALTIES],
      efforts: SWITCHED_THINKING,
      reasoningFields: ['thinking'],
      toolChoice: 'auto',
      temperatureMax: 1,
      isSingleChoice: true,
      hasNoJsonSchema: true,
      cacheMarks: 'none',
      messages: MESSAGES,
    },
    reply: {
      finish: { sensitive: 'content_filter', model_context_window_exceeded: 'length' },
      faults: { network_error: 502 },
    },
    models: [
      { pattern: /^glm-5\.3/u, drops: [], efforts: LOW_HIGH_MAX },
      {
        pattern: /^glm-5\.2/u,
        drops: [],
        efforts: { none: NO_THINKING, ...nearest({ minimal: 'high', low: 'high', medium: 'high', xhigh: 'max' }) },
      },
    ],
  },
  minimax: {
    name: 'MiniMax',
    baseUrl: 'https://api.minimax.io/v1',
    keyVariable: 'MINIMAX_API_KEY',
    // Unchecked: the field that keeps its thinking out of the text.
    request: {
      ...COMMON,
      drops: ['seed', 'logit_bias', ...LOGPROBS, ...PENALTIES],
      reasoningFields: ['thinking'],
      adds: { reasoning_split: true },
      isSingleChoice: true,
      messages: { ...MESSAGES, joinsSystem: true },
    },
    reply: {
      statusObject: { name: 'base_resp', statuses: { 1002: 429, 1004: 401, 1008: 402, 1026: 400, 1027: 400, 1039: 429, 2013: 400 } },
    },
    models: [{ pattern: /^MiniMax-M3/u, drops: [], efforts: ADAPTIVE_THINKING }],
    billsAfterAbort: true,
  },
  dashscope: {
    name: 'Alibaba Cloud Model Studio',
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    keyVariable: 'DASHSCOPE_API_KEY',
    // It caches what is marked, as Anthropic does.
    request: {
      ...COMMON,
      // Other names for searches.
      drops: ['enable_search', 'search_options'],
      cacheMarks: 'brief',
      efforts: { none: { enable_thinking: false } },
      toolChoice: 'unthinking',
      messages: { ...MESSAGES, joinsSystem: true },
    },
    models: [{ pattern: /thinking|qwq|qvq/u, drops: ['reasoning_effort'], toolChoice: 'unforced' }],
    billsAfterAbort: true,
  },
};
