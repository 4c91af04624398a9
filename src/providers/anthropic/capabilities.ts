/** The thinking efforts, lowest first. */
export const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const;
export type Effort = (typeof EFFORTS)[number];

/** What a model supports. Anything else would be answered with a 400, so it is not sent. */
export interface Capabilities {
  readonly outputTokensMax: number;
  /** Whether `temperature`, `top_p` and `top_k` are allowed. */
  readonly takesSampling: boolean;
  /** Adaptive models decide for themselves how long to think. Older ones get a token budget. */
  readonly thinking: 'adaptive' | 'budget' | 'none';
  readonly thinksByDefault: boolean;
  /** The closest the model comes to not thinking. */
  readonly leastThinking: 'disabled' | 'between_tools' | 'low_effort';
  readonly efforts: readonly Effort[];
  /** Thinking that is sent back is refused if anything before it has changed, unless the request says to ignore it in that case. */
  readonly bindsThinking: boolean;
  readonly takesForcedTools: boolean;
  /** Whether answers and tool inputs can be held to a schema. */
  readonly takesSchemas: boolean;
  /** Whether system messages are allowed in the middle of a conversation. */
  readonly takesSystemTurns: boolean;
  /** Whether a conversation may end with the beginning of the answer. */
  readonly takesPrefill: boolean;
}

/** Returns the capabilities of a model by its id at the provider. Unknown models are treated like the newest ones. */
export function capabilitiesOf(model: string): Capabilities {
  return MODELS.find(([part]) => model.includes(part))?.[1] ?? ALWAYS_THINKING;
}

const ALWAYS_THINKING: Capabilities = {
  outputTokensMax: 128_000,
  takesSampling: false,
  thinking: 'adaptive',
  thinksByDefault: true,
  leastThinking: 'low_effort',
  efforts: EFFORTS,
  bindsThinking: true,
  takesForcedTools: false,
  takesSchemas: true,
  takesSystemTurns: false,
  takesPrefill: false,
};

const FIFTH: Capabilities = { ...ALWAYS_THINKING, leastThinking: 'disabled', bindsThinking: false, takesForcedTools: true };

const LATE_FOURTH: Capabilities = { ...FIFTH, thinksByDefault: false };

const FOUR_SIX: Capabilities = { ...LATE_FOURTH, takesSampling: true, efforts: ['low', 'medium', 'high', 'max'] };

const FOUR_FIVE: Capabilities = { ...FOUR_SIX, outputTokensMax: 64_000, thinking: 'budget', efforts: [], takesPrefill: true };

const OLDEST: Capabilities = { ...FOUR_FIVE, outputTokensMax: 4096, thinking: 'none', takesSchemas: false };

/** Capabilities by part of the id. The first match counts, so longer ids come first: 'opus-5' is also part of 'opus-5-5'. */
const MODELS: readonly (readonly [part: string, capabilities: Capabilities])[] = [
  ['sonnet-5-5', { ...ALWAYS_THINKING, leastThinking: 'between_tools' }],
  ['opus-5-5', { ...ALWAYS_THINKING, takesSystemTurns: true }],
  ['haiku-5', FIFTH],
  ['opus-5', { ...FIFTH, takesSystemTurns: true }],
  ['fable-5-1', { ...ALWAYS_THINKING, takesSystemTurns: true }],
  ['fable-5-2', { ...ALWAYS_THINKING, takesSystemTurns: true }],
  ['fable-5', { ...ALWAYS_THINKING, bindsThinking: false, takesForcedTools: true, takesSystemTurns: true }],
  ['sonnet-5', FIFTH],
  ['opus-4-8', { ...LATE_FOURTH, takesSystemTurns: true }],
  ['opus-4-7', LATE_FOURTH],
  // Sources disagree between 64,000 and 128,000. The smaller limit is never refused.
  ['sonnet-4-6', { ...FOUR_SIX, outputTokensMax: 64_000 }],
  ['opus-4-6', FOUR_SIX],
  ['opus-4-5', { ...FOUR_FIVE, efforts: ['low', 'medium', 'high'] }],
  ['sonnet-4-5', FOUR_FIVE],
  ['haiku-4-5', FOUR_FIVE],
  ['opus-4-1', { ...FOUR_FIVE, outputTokensMax: 32_000 }],
  ['opus-4', { ...FOUR_FIVE, outputTokensMax: 32_000, takesSchemas: false }],
  ['sonnet-4', { ...FOUR_FIVE, takesSchemas: false }],
  ['claude-3-7', { ...FOUR_FIVE, takesSchemas: false }],
  ['claude-3', OLDEST],
  ['claude-instant', OLDEST],
  ['claude-v2', OLDEST],
];
