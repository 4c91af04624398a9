import type { MessageQuirks, ModelQuirks } from '../host.ts';
import { LOGPROBS, LOW_TO_HIGH, nearest, PENALTIES } from './usual-quirks.ts';

/** What OpenAI wants of messages, and so do others that serve its models. */
export const OPENAI_MESSAGES: MessageQuirks = { stripsExtensions: true, toolIdCharactersMax: 40 };

const SAMPLING = ['temperature', 'top_p', ...LOGPROBS];
/** What no model that reasons takes. */
const NEVER = [...PENALTIES, 'logit_bias', 'stop'];

/** How long prompts are kept, which the newest models are told by `prompt_cache_options` only. */
const RETENTION = 'prompt_cache_retention';

/** What OpenAI's models refuse, by generation. Models without a row are trusted with everything. */
export const OPENAI_MODELS: readonly ModelQuirks[] = [
  { pattern: /^(?:gpt-5-chat|gpt-[34]|chatgpt)/u, drops: ['reasoning_effort'] },
  {
    pattern: /^o[13]/u,
    drops: [...SAMPLING, ...NEVER, 'parallel_tool_calls'],
    efforts: LOW_TO_HIGH,
  },
  { pattern: /^o\d/u, drops: [...SAMPLING, ...NEVER], efforts: LOW_TO_HIGH },
  { pattern: /^gpt-5(?!\.)/u, drops: [...SAMPLING, ...NEVER], efforts: nearest({ none: 'minimal', xhigh: 'high', max: 'high' }) },
  { pattern: /^gpt-5\.1/u, drops: NEVER, dropsAwake: SAMPLING, efforts: nearest({ minimal: 'low', xhigh: 'high', max: 'high' }) },
  { pattern: /^gpt-5\.[2-5]/u, drops: NEVER, dropsAwake: SAMPLING, efforts: nearest({ minimal: 'low', max: 'xhigh' }) },
  { pattern: /^gpt-5\./u, drops: NEVER, dropsAwake: SAMPLING, restsWithTools: true, efforts: nearest({ minimal: 'low', max: 'xhigh' }) },
  { pattern: /^gpt-6(?:-astra|\.1-sol)/u, drops: [...SAMPLING, ...NEVER, RETENTION], efforts: nearest({ none: 'low', minimal: 'low' }) },
  { pattern: /^gpt-6/u, drops: [...NEVER, RETENTION], dropsAwake: SAMPLING, efforts: nearest({ minimal: 'low' }) },
];
