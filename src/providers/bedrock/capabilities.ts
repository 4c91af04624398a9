import { capabilitiesOf as capabilitiesOfClaude } from '../anthropic/capabilities.ts';

/** How thinking is configured, which differs per maker: Converse has no field for it. */
export type ReasoningStyle = 'adaptive' | 'budget' | 'nova' | 'gpt-oss' | 'openai';

/** What a model supports. Converse answers 400 to a field the model does not know. */
export interface Capabilities {
  /** Whether temperature and top_p are supported: both, one of them, or none. */
  readonly sampling: 'both' | 'either' | 'none';
  readonly hasStop: boolean;
  readonly hasSystem: boolean;
  readonly hasTools: boolean;
  /** Whether an answer can be streamed where tools are offered. */
  readonly streamsTools: boolean;
  /** What a tool's schema may have at its top: anything, no union, or only its fields. */
  readonly rootSchema: 'any' | 'object' | 'fields';
  /** Whether the fields of tools may have any name. */
  readonly takesAnyField: boolean;
  /** Whether a tool call can be required. */
  readonly canForceTools: boolean;
  readonly hasShortToolIds: boolean;
  readonly hasImages: boolean;
  readonly hasDocuments: boolean;
  readonly hasCachePoints: boolean;
  /** Whether a cache point may follow a tool, and a tool result. */
  readonly hasCachedTools: boolean;
  /** Whether schemas of answers and tool inputs are enforced. */
  readonly hasSchemas: boolean;
  /** Whether a conversation may end with the beginning of the answer. */
  readonly takesPrefill: boolean;
  /** Whether the model can be asked for answers that may take longer and cost less. */
  readonly hasFlexTier: boolean;
  readonly reasoning: ReasoningStyle | undefined;
  /** Whether the model has an effort between high and max. */
  readonly hasExtraEffort: boolean;
  /** Whether thinking can be turned off. */
  readonly canDisableThinking: boolean;
  /** Whether thinking that is sent back is refused if anything before it has changed. */
  readonly bindsThinking: boolean;
  /** The longest answer, for models whose thinking budget is measured by it. */
  readonly outputTokensMax: number;
}

const USUAL: Capabilities = {
  sampling: 'both',
  hasStop: true,
  hasSystem: true,
  hasTools: true,
  streamsTools: true,
  rootSchema: 'any',
  takesAnyField: true,
  canForceTools: true,
  hasShortToolIds: false,
  hasImages: true,
  hasDocuments: true,
  hasCachePoints: false,
  hasCachedTools: false,
  hasSchemas: false,
  takesPrefill: true,
  hasFlexTier: true,
  reasoning: undefined,
  hasExtraEffort: false,
  canDisableThinking: true,
  bindsThinking: false,
  outputTokensMax: 64_000,
};
const NOVA: Capabilities = { ...USUAL, rootSchema: 'fields', hasCachePoints: true };
const GPT: Capabilities = { ...USUAL, sampling: 'none', hasStop: false, hasFlexTier: false, reasoning: 'openai' };
const TEXT_ONLY: Capabilities = { ...USUAL, hasImages: false };
const LLAMA: Capabilities = { ...USUAL, hasStop: false, streamsTools: false, canForceTools: false };

/** The first pattern that matches the model's id counts. Ids have a region prefix and a version suffix. */
const MODELS: readonly (readonly [pattern: RegExp, capabilities: Capabilities])[] = [
  [/amazon\.nova-2/u, { ...NOVA, reasoning: 'nova' }],
  [/amazon\.nova-micro/u, { ...NOVA, hasImages: false, hasDocuments: false }],
  [/amazon\.nova/u, NOVA],
  [/amazon\.titan/u, { ...TEXT_ONLY, hasTools: false, hasSystem: false }],
  [/meta\.llama(?:4|3-2-(?:11|90)b)/u, LLAMA],
  [/meta\.llama3-[123]/u, { ...LLAMA, hasImages: false }],
  [/meta\.llama/u, { ...LLAMA, hasImages: false, hasTools: false }],
  [/mistral\.(?:mistral-7b|mixtral)/u, { ...TEXT_ONLY, hasTools: false, hasSystem: false }],
  [/mistral\.(?:pixtral|mistral-large-3|magistral|ministral)/u, { ...USUAL, hasShortToolIds: true }],
  [/mistral\./u, { ...TEXT_ONLY, hasShortToolIds: true }],
  [/cohere\.command-r/u, { ...TEXT_ONLY, canForceTools: false }],
  [/ai21\.jamba/u, { ...TEXT_ONLY, canForceTools: false }],
  [/deepseek\.r1/u, { ...TEXT_ONLY, hasTools: false }],
  [/deepseek\./u, TEXT_ONLY],
  [/xai\.grok/u, { ...USUAL, sampling: 'none', hasStop: false }],
  [/openai\.gpt-oss/u, { ...TEXT_ONLY, hasStop: false, canForceTools: false, reasoning: 'gpt-oss', canDisableThinking: false }],
  [/openai\.gpt-6(?:-astra|\.1-sol)/u, { ...GPT, canDisableThinking: false }],
  [/openai\./u, GPT],
];

/**
 * Returns what the model of this id supports. An unknown id, such as a custom inference profile, is assumed to support
 * everything usual.
 */
export function capabilitiesOf(model: string): Capabilities {
  return /anthropic\.|claude-/u.test(model) ? ofClaude(model) : (MODELS.find(([pattern]) => pattern.test(model))?.[1] ?? USUAL);
}

/** Claude supports the same as at its maker, but few models get a grammar here, and the oldest no cache. */
function ofClaude(model: string): Capabilities {
  const claude = capabilitiesOfClaude(model);
  const isOldest = /claude-(?:3(?!-7)|instant|v2)/u.test(model);
  return {
    ...USUAL,
    sampling: claude.takesSampling ? 'either' : 'none',
    rootSchema: 'object',
    takesAnyField: false,
    canForceTools: claude.takesForcedTools,
    hasCachePoints: !isOldest,
    hasCachedTools: !isOldest,
    hasSchemas: /claude-(?:opus-4-[156]|sonnet-4-5)/u.test(model),
    takesPrefill: claude.takesPrefill,
    hasFlexTier: false,
    reasoning: claude.thinking === 'none' ? undefined : claude.thinking,
    hasExtraEffort: claude.efforts.includes('xhigh'),
    canDisableThinking: claude.leastThinking === 'disabled',
    bindsThinking: claude.bindsThinking,
    outputTokensMax: claude.outputTokensMax,
  };
}
