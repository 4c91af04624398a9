/** How hard a model may be told to think, the least first. */
export const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const;
export type Effort = (typeof EFFORTS)[number];

/** What a model takes. Whatever it does not take is a 400, so nothing else is sent. */
export interface Capabilities {
  readonly outputTokensMax: number;
  /** Whether `temperature`, `top_p` and `top_k` are allowed. */
  readonly takesSampling: boolean;
  /** Adaptive models decide by themselves how long to think; older ones are given a budget of tokens. */
  readonly thinking: 'adaptive' | 'budget' | 'none';
  readonly thinksUnasked: boolean;
  /** The nearest thing to not thinking. */
  readonly thinksLeast: 'disabled' | 'between_tools' | 'low_effort';
  readonly efforts: readonly Effort[];
  /** Thinking that is sent back is refused when anything before it has changed, unless we say to ignore it then. */
  readonly bindsThinking: boolean;
  readonly takesForcedTools: boolean;
  /** Answers and tool inputs that follow a schema exactly. */
  readonly takesSchemas: boolean;
  /** System messages in the middle of a conversation. */
  readonly takesSystemTurns: boolean;
  /** A conversation may end with the beginning of the answer. */
  readonly takesPrefill: boolean;
}

/** The capabilities of a model by its id at the provider; a model that we do not know is taken for one of the newest. */
export function capabilitiesOf(model: string): Capabilities {
  return MODELS.find(([part]) => model.includes(part))?.[1] ?? ALWAYS_THINKING;
}

const ALWAYS_THINKING: Capabilities = {
  outputTokensMax: 128_000,
  takesSampling: false,
  thinking: 'adaptive',
  thinksUnasked: true,
  thinksLeast: 'low_effort',
  efforts: EFFORTS,
  bindsThinking: true,
  takesForcedTools: false,
  takesSchemas: true,
  takesSystemTurns: false,
  takesPrefill: false,
};

const FIFTH: Capabilities = { ...ALWAYS_THINKING, thinksLeast: 'disabled', bindsThinking: false, takesForcedTools: true };

const LATE_FOURTH: Capabilities = { ...FIFTH, thinksUnasked: false };

const FOUR_SIX: Capabilities = { ...LATE_FOURTH, takesSampling: true, efforts: ['low', 'medium', 'high', 'max'] };

const FOUR_FIVE: Capabilities = { ...FOUR_SIX, outputTokensMax: 64_000, thinking: 'budget', efforts: [], takesPrefill: true };

/** By a part of the id, the first that fits: 'opus-5' is also part of 'opus-5-5', so the longer ones stand first. */
const MODELS: readonly (readonly [part: string, capabilities: Capabilities])[] = [
  ['sonnet-5-5', { ...ALWAYS_THINKING, thinksLeast: 'between_tools' }],
  ['opus-5-5', { ...ALWAYS_THINKING, takesSystemTurns: true }],
  ['haiku-5-5', FIFTH],
  ['opus-5', { ...FIFTH, takesSystemTurns: true }],
  ['fable-5-1', { ...ALWAYS_THINKING, takesSystemTurns: true }],
  ['fable-5-2', { ...ALWAYS_THINKING, takesSystemTurns: true }],
  ['fable-5', { ...ALWAYS_THINKING, bindsThinking: false, takesForcedTools: true, takesSystemTurns: true }],
  ['sonnet-5', FIFTH],
  ['opus-4-8', { ...LATE_FOURTH, takesSystemTurns: true }],
  ['opus-4-7', LATE_FOURTH],
  // Sources disagree between 64,000 and 128,000 for this one; the smaller limit is never refused.
  ['sonnet-4-6', { ...FOUR_SIX, outputTokensMax: 64_000 }],
  ['opus-4-6', FOUR_SIX],
  ['opus-4-5', { ...FOUR_FIVE, efforts: ['low', 'medium', 'high'] }],
  ['sonnet-4-5', FOUR_FIVE],
  ['haiku-4-5', FOUR_FIVE],
  ['opus-4-1', { ...FOUR_FIVE, outputTokensMax: 32_000 }],
  ['opus-4', { ...FOUR_FIVE, outputTokensMax: 32_000, takesSchemas: false }],
  ['sonnet-4', { ...FOUR_FIVE, takesSchemas: false }],
  ['claude-3', { ...FOUR_FIVE, outputTokensMax: 4096, thinking: 'none', takesSchemas: false }],
];
