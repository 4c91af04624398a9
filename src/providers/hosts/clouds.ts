import type { Host } from '../host.ts';
import {
  COMMON,
  GPT_OSS,
  LOGPROBS,
  MESSAGES,
  NAMELESS_MESSAGES,
  nearest,
  OPENAI_LIMITS,
  OPENAI_ONLY,
  PENALTIES,
  QWEN,
  STRICT_MESSAGES,
} from './usual-quirks.ts';
import { OPENAI_MESSAGES, PREFIXED_OPENAI_MODELS } from './openai-models.ts';

/** Thinking is either on or off. */
const QWEN_EFFORTS = nearest({
  default: 'default',
  minimal: 'default',
  low: 'default',
  medium: 'default',
  high: 'default',
  xhigh: 'default',
  max: 'default',
});

/** Hosts that serve other companies' models. */
export const CLOUDS: Readonly<Record<string, Host>> = {
  bedrock: {
    name: 'Amazon Bedrock',
    dialect: 'bedrock',
    baseUrl: 'https://bedrock-runtime.{AWS_REGION}.amazonaws.com',
    keyVariable: 'AWS_BEARER_TOKEN_BEDROCK',
  },
  azure: {
    name: 'Azure OpenAI',
    dialect: 'azure',
    baseUrl: 'https://{AZURE_OPENAI_RESOURCE}.openai.azure.com',
    keyVariable: 'AZURE_OPENAI_API_KEY',
    limits: { ...OPENAI_LIMITS, retryAfter: 'milliseconds' },
  },
  fireworks: {
    name: 'Fireworks AI',
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    keyVariable: 'FIREWORKS_API_KEY',
    // Unchecked: that it knows Anthropic's field.
    request: { ...COMMON, reasoningFields: ['thinking'] },
    models: [QWEN],
    limits: OPENAI_LIMITS,
  },
  together: {
    name: 'Together AI',
    baseUrl: 'https://api.together.xyz/v1',
    keyVariable: 'TOGETHER_API_KEY',
    // Unchecked: that it knows OpenRouter's field.
    request: { ...COMMON, reasoningFields: ['reasoning'] },
    models: [QWEN],
    reply: { reasoningField: 'reasoning', finish: { eos: 'stop' } },
    limits: { remaining: ['x-ratelimit-remaining', 'x-tokenlimit-remaining'] },
  },
  groq: {
    name: 'Groq',
    baseUrl: 'https://api.groq.com/openai/v1',
    keyVariable: 'GROQ_API_KEY',
    request: {
      // `compound_custom` would let its compound systems use other models and tools.
      drops: ['logit_bias', ...LOGPROBS, 'compound_custom'],
      values: { service_tier: { default: 'on_demand', scale: 'performance' } },
      efforts: nearest({ default: 'default', minimal: 'low', xhigh: 'high', max: 'high' }),
      isSingleChoice: true,
      hasNoJsonWithTools: true,
      cacheMarks: 'none',
      messages: NAMELESS_MESSAGES,
    },
    reply: { reasoningField: 'reasoning' },
    models: [
      GPT_OSS,
      { pattern: /qwen3/u, drops: [], efforts: QWEN_EFFORTS },
      { pattern: /llama|kimi|compound/u, drops: ['reasoning_effort'] },
    ],
    limits: OPENAI_LIMITS,
    billsAfterAbort: true,
  },
  cerebras: {
    name: 'Cerebras',
    baseUrl: 'https://api.cerebras.ai/v1',
    keyVariable: 'CEREBRAS_API_KEY',
    // Unchecked: which fields it refuses.
    request: {
      renames: { max_tokens: 'max_completion_tokens' },
      drops: ['logit_bias', 'service_tier', ...PENALTIES, ...OPENAI_ONLY],
      isSingleChoice: true,
      cacheMarks: 'none',
      messages: { ...STRICT_MESSAGES, reasoningField: 'reasoning' },
    },
    reply: { reasoningField: 'reasoning' },
    models: [GPT_OSS],
    limits: { remaining: ['x-ratelimit-remaining-requests-day', 'x-ratelimit-remaining-tokens-minute'], retryAfter: 'seconds' },
  },
  openrouter: {
    name: 'OpenRouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    keyVariable: 'OPENROUTER_API_KEY',
    // Other models, searches and upstreams have other prices, and a preset may select any of them. The fields of
    // `provider` that are kept restrict who may see the data and what a request may cost. Cache marks are passed on to
    // the upstream.
    request: {
      drops: ['models', 'plugins', 'preset'],
      reasoningFields: ['reasoning'],
      narrows: { provider: ['data_collection', 'zdr', 'enforce_distillable_text', 'require_parameters', 'max_price'] },
      cacheMarks: 'brief',
      messages: MESSAGES,
    },
    reply: { reasoningField: 'reasoning', faults: { error: 502 } },
  },
  deepinfra: {
    name: 'DeepInfra',
    baseUrl: 'https://api.deepinfra.com/v1/openai',
    keyVariable: 'DEEPINFRA_API_KEY',
    request: COMMON,
    models: [QWEN],
  },
  sambanova: {
    name: 'SambaNova',
    baseUrl: 'https://api.sambanova.ai/v1',
    keyVariable: 'SAMBANOVA_API_KEY',
    // Unchecked: which fields it ignores.
    request: { ...COMMON, drops: ['logit_bias', ...LOGPROBS, ...PENALTIES], isSingleChoice: true },
    reply: { reasoningField: 'reasoning' },
    limits: OPENAI_LIMITS,
    billsAfterAbort: true,
  },
  nebius: {
    name: 'Nebius Token Factory',
    baseUrl: 'https://api.tokenfactory.nebius.com/v1',
    keyVariable: 'NEBIUS_API_KEY',
    request: COMMON,
    models: [QWEN],
    billsAfterAbort: true,
  },
  novita: { name: 'Novita AI', baseUrl: 'https://api.novita.ai/openai/v1', keyVariable: 'NOVITA_API_KEY', request: COMMON, models: [QWEN] },
  siliconflow: {
    name: 'SiliconFlow',
    baseUrl: 'https://api.siliconflow.com/v1',
    keyVariable: 'SILICONFLOW_API_KEY',
    request: { ...COMMON, efforts: { none: { enable_thinking: false } } },
    models: [QWEN],
  },
  hyperbolic: {
    name: 'Hyperbolic',
    baseUrl: 'https://api.hyperbolic.xyz/v1',
    keyVariable: 'HYPERBOLIC_API_KEY',
    request: COMMON,
    models: [QWEN],
  },
  nvidia: {
    name: 'NVIDIA NIM',
    baseUrl: 'https://integrate.api.nvidia.com/v1',
    keyVariable: 'NVIDIA_API_KEY',
    // Unchecked: it rejects unknown fields.
    request: { ...COMMON, drops: ['user', 'service_tier', 'parallel_tool_calls', ...OPENAI_ONLY] },
    models: [QWEN],
  },
  github: {
    name: 'GitHub Models',
    baseUrl: 'https://models.github.ai/inference',
    // Not GITHUB_TOKEN: it is often set for other reasons and would enable these models by accident.
    keyVariable: 'GITHUB_MODELS_TOKEN',
    request: { renames: { max_tokens: 'max_completion_tokens' }, cacheMarks: 'none', messages: OPENAI_MESSAGES },
    // Unchecked: that the models of other makers know only the older names.
    models: [
      { pattern: /^(?!openai\/)[^/]+\//u, drops: OPENAI_ONLY, renames: { max_completion_tokens: 'max_tokens' }, messages: MESSAGES },
      ...PREFIXED_OPENAI_MODELS,
    ],
  },
  cloudflare: {
    name: 'Cloudflare Workers AI',
    baseUrl: 'https://api.cloudflare.com/client/v4/accounts/{CLOUDFLARE_ACCOUNT_ID}/ai/v1',
    keyVariable: 'CLOUDFLARE_API_TOKEN',
    request: { ...COMMON, drops: ['logit_bias', ...LOGPROBS], isSingleChoice: true },
  },
  huggingface: {
    name: 'Hugging Face',
    baseUrl: 'https://router.huggingface.co/v1',
    keyVariable: 'HF_TOKEN',
    request: COMMON,
    models: [QWEN],
    billsAfterAbort: true,
  },
};
