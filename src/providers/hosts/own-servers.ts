import type { Host } from '../host.ts';
import { COMMON, nearest, OPENAI_ONLY, QWEN } from './usual-quirks.ts';

/** Self-hosted servers, at a configured address or by default on this machine. */
export const OWN_SERVERS: Readonly<Record<string, Host>> = {
  ollama: {
    name: 'Ollama',
    baseUrl: 'http://127.0.0.1:11434/v1',
    keyVariable: 'OLLAMA_API_KEY',
    addressVariable: 'OLLAMA_URL',
    request: {
      ...COMMON,
      drops: ['logit_bias', 'user', 'parallel_tool_calls', 'service_tier', ...OPENAI_ONLY],
      // Only its newest versions know `max`.
      efforts: nearest({ minimal: 'low', xhigh: 'high', max: 'high' }),
      needsInlineMedia: true,
      isSingleChoice: true,
    },
    reply: { reasoningField: 'reasoning' },
    models: [
      QWEN,
      // They cannot think.
      { pattern: /^(?:llama|qwen2|qwen3-coder)/u, drops: ['reasoning_effort'] },
    ],
  },
  vllm: {
    name: 'vLLM',
    baseUrl: 'http://127.0.0.1:8000/v1',
    keyVariable: 'VLLM_API_KEY',
    addressVariable: 'VLLM_URL',
    request: COMMON,
    models: [QWEN],
    reply: { reasoningField: 'reasoning', faults: { abort: 502 } },
  },
  sglang: {
    name: 'SGLang',
    baseUrl: 'http://127.0.0.1:30000/v1',
    keyVariable: 'SGLANG_API_KEY',
    addressVariable: 'SGLANG_URL',
    request: COMMON,
    models: [QWEN],
    reply: { faults: { abort: 502 } },
  },
  llamacpp: {
    name: 'llama.cpp',
    baseUrl: 'http://127.0.0.1:8080/v1',
    keyVariable: 'LLAMA_API_KEY',
    addressVariable: 'LLAMACPP_URL',
    request: COMMON,
    models: [QWEN],
  },
  lmstudio: {
    name: 'LM Studio',
    baseUrl: 'http://127.0.0.1:1234/v1',
    keyVariable: 'LMSTUDIO_API_KEY',
    addressVariable: 'LMSTUDIO_URL',
    // Its own API lists context lengths; the OpenAI-compatible list has only names.
    modelLists: ['../api/v0/models', 'models'],
    request: { ...COMMON, isSingleChoice: true, toolChoice: 'unnamed', hasNoJsonMode: true },
    models: [QWEN],
    reply: { reasoningField: 'reasoning' },
  },
};
