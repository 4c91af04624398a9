/** How a model's amount of thinking is set. */
export type Thinking =
  | { readonly type: 'none' }
  | { readonly type: 'level'; readonly lowest: 'MINIMAL' | 'LOW' }
  | { readonly type: 'budget'; readonly tokensMin: number; readonly tokensMax: number; readonly canSwitchOff: boolean };

/** What a model supports, as far as models differ. */
export interface Capabilities {
  readonly thinking: Thinking;
  /** False when instructions must go into the first user message. */
  readonly hasSystemInstruction: boolean;
  /** Refuses a replayed function call without its original signature. */
  readonly needsSignatures: boolean;
  /** Matches results to calls by id. Other models match by name and order. */
  readonly hasCallIds: boolean;
  /** Supports a response format together with functions, as long as no call is forced. */
  readonly hasJsonWithTools: boolean;
  /** Accepts images and files in a function's result. */
  readonly hasMediaInResults: boolean;
  /** Can be held to the schemas of its functions without being forced to call one. */
  readonly hasValidatedCalls: boolean;
  /** Supports presence and frequency penalties at the Gemini API. Vertex always does. */
  readonly hasPenalties: boolean;
  readonly hasImageOutput: boolean;
  /**
   * Whether log probabilities are supported: at both services, only at Vertex, or nowhere. Based on users' reports.
   * None of the newest models supports them.
   */
  readonly logprobs: 'everywhere' | 'vertex' | 'nowhere';
}

/** Returns the capabilities of a model by its name at the provider. A path before the name is ignored. */
export function capabilitiesOf(model: string): Capabilities {
  const name = model.slice(model.lastIndexOf('/') + 1);
  return TABLE.find(([pattern]) => pattern.test(name))?.[1] ?? FIRST_GENERATIONS;
}

const NO_THINKING: Thinking = { type: 'none' };

const FIRST_GENERATIONS: Capabilities = {
  thinking: NO_THINKING,
  hasSystemInstruction: true,
  needsSignatures: false,
  hasCallIds: false,
  hasJsonWithTools: false,
  hasMediaInResults: false,
  hasValidatedCalls: false,
  hasPenalties: true,
  hasImageOutput: false,
  logprobs: 'nowhere',
};

const GEMINI_2_5: Capabilities = { ...FIRST_GENERATIONS, hasValidatedCalls: true, hasPenalties: false };

const GEMINI_3: Capabilities = {
  ...GEMINI_2_5,
  thinking: { type: 'level', lowest: 'LOW' },
  needsSignatures: true,
  hasCallIds: true,
  hasJsonWithTools: true,
  hasMediaInResults: true,
};

/** One row per family. The first match counts. Gemini families without their own row are treated like the newest. */
const TABLE: readonly (readonly [pattern: RegExp, capabilities: Capabilities])[] = [
  [/^gemma/, { ...FIRST_GENERATIONS, hasSystemInstruction: false, hasPenalties: false }],
  [/^gemini-2\.5-.*image/, { ...GEMINI_2_5, hasImageOutput: true }],
  [/^gemini-2\.5-.*(?:tts|audio|computer-use)/, GEMINI_2_5],
  [
    /^gemini-2\.5-pro/,
    { ...GEMINI_2_5, logprobs: 'vertex', thinking: { type: 'budget', tokensMin: 128, tokensMax: 32_768, canSwitchOff: false } },
  ],
  [/^gemini-2\.5-flash-lite/, { ...GEMINI_2_5, thinking: { type: 'budget', tokensMin: 512, tokensMax: 24_576, canSwitchOff: true } }],
  [
    /^gemini-2\.5-flash/,
    { ...GEMINI_2_5, logprobs: 'vertex', thinking: { type: 'budget', tokensMin: 1, tokensMax: 24_576, canSwitchOff: true } },
  ],
  [/^gemini-2\.0-flash(?!.*(?:image|live))/, { ...FIRST_GENERATIONS, logprobs: 'everywhere' }],
  [/^gemini-[12][.-]|^gemini-exp|^gemini-robotics|^learnlm/, FIRST_GENERATIONS],
  [/^gemini-.*image/, { ...GEMINI_3, thinking: NO_THINKING, hasImageOutput: true }],
  [/^gemini-3(?:\.[0-6])?-flash/, { ...GEMINI_3, thinking: { type: 'level', lowest: 'MINIMAL' } }],
  [/^gemini-/, GEMINI_3],
];
