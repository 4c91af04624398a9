import type { MessageQuirks, ModelQuirks } from '../host.ts';
import { LOGPROBS, LOW_TO_HIGH, nearest, PENALTIES } from './usual-quirks.ts';

/** The message requirements of OpenAI and of other hosts that serve its models. */
export const OPENAI_MESSAGES: MessageQuirks = { stripsExtensions: true, toolIdCharactersMax: 40 };

const SAMPLING = ['temperature', 'top_p', ...LOGPROBS];
/** Fields that no reasoning model accepts. */
const NEVER = [...PENALTIES, 'logit_bias', 'stop'];

/** The cache retention. The newest models take it only through `prompt_cache_options`. */
const RETENTION = 'prompt_cache_retention';

/** What OpenAI's models refuse, by generation. A model without an entry is assumed to accept everything. */
export const OPENAI_MODELS: readonly ModelQuirks[] = [
  // They have one verbosity.
  { pattern: /^(?:gpt-5-chat|gpt-[34]|chatgpt)/u, drops: ['reasoning_effort', 'verbosity'] },
  {
    pattern: /^o[13]/u,
    drops: [...SAMPLING, ...NEVER, 'verbosity', 'parallel_tool_calls'],
    efforts: LOW_TO_HIGH,
  },
  { pattern: /^o\d/u, drops: [...SAMPLING, ...NEVER, 'verbosity'], efforts: LOW_TO_HIGH },
  { pattern: /^gpt-5(?!\.)/u, drops: [...SAMPLING, ...NEVER], efforts: nearest({ none: 'minimal', xhigh: 'high', max: 'high' }) },
  // Snapshots of ChatGPT, which reason at one fixed effort.
  { pattern: /^gpt-5\.\d+-chat/u, drops: [...SAMPLING, ...NEVER, 'reasoning_effort'] },
  { pattern: /^gpt-5\.1/u, drops: NEVER, dropsWhileReasoning: SAMPLING, efforts: nearest({ minimal: 'low', xhigh: 'high', max: 'high' }) },
  { pattern: /^gpt-5\.[23]/u, drops: NEVER, dropsWhileReasoning: SAMPLING, efforts: nearest({ minimal: 'low', max: 'xhigh' }) },
  {
    pattern: /^gpt-5\.4/u,
    drops: NEVER,
    dropsWhileReasoning: SAMPLING,
    hasNoEffortWithTools: true,
    efforts: nearest({ minimal: 'low', max: 'xhigh' }),
  },
  {
    pattern: /^gpt-5\.5/u,
    drops: NEVER,
    dropsWhileReasoning: SAMPLING,
    reasonsByDefault: true,
    hasNoEffortWithTools: true,
    efforts: nearest({ minimal: 'low', max: 'xhigh' }),
  },
  {
    pattern: /^gpt-5\./u,
    drops: NEVER,
    dropsWhileReasoning: SAMPLING,
    reasonsByDefault: true,
    hasNoReasoningWithTools: true,
    efforts: nearest({ minimal: 'low', max: 'xhigh' }),
  },
  // The highest effort is for another endpoint.
  {
    pattern: /^gpt-6(?:-astra|\.1-sol)/u,
    drops: [...SAMPLING, ...NEVER, RETENTION],
    hasNoTools: true,
    efforts: nearest({ none: 'low', minimal: 'low', max: 'xhigh' }),
  },
  {
    pattern: /^gpt-6/u,
    drops: [...NEVER, RETENTION],
    dropsWhileReasoning: SAMPLING,
    reasonsByDefault: true,
    hasNoReasoningWithTools: true,
    efforts: nearest({ minimal: 'low', max: 'xhigh' }),
  },
];

/** The same at a host that puts the maker's name before the model's. */
export const PREFIXED_OPENAI_MODELS: readonly ModelQuirks[] = OPENAI_MODELS.map((kind) => ({
  ...kind,
  pattern: new RegExp(kind.pattern.source.replace('^', '^openai\\/'), 'u'),
}));
