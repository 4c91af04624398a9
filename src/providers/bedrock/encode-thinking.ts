import type { ChatRequest, JsonObject } from '../../openai/types.ts';
import type { Capabilities, ReasoningStyle } from './capabilities.ts';
import { lookUp } from '../look-up.ts';

/** The reasoning settings of a request. */
export interface EncodedThinking {
  /** For `additionalModelRequestFields`. */
  readonly fields: JsonObject;
  /** For `outputConfig`. */
  readonly effort?: string;
  /** False when the model, while thinking, accepts neither temperature nor top_p. */
  readonly takesSampling: boolean;
  /** False when the model, while thinking, cannot be required to call a tool. */
  readonly takesForcing: boolean;
  readonly isDropped: boolean;
}

interface Room {
  readonly capabilities: Capabilities;
  /** The output limit, thinking included. */
  readonly outputTokens: number | undefined;
  /** True when thoughts are missing that a model with a thinking budget expects back with its tool results. */
  readonly lacksThoughts: () => boolean;
}

const NOTHING: EncodedThinking = { fields: {}, takesSampling: true, takesForcing: true, isDropped: false };
const DROPPED: EncodedThinking = { ...NOTHING, isDropped: true };

/** Encodes `reasoning_effort` in the form the model's maker uses. */
export function encodeThinking(chat: ChatRequest, room: Room): EncodedThinking {
  const effort = chat['reasoning_effort'];
  // `default` means the model's own default.
  if (typeof effort !== 'string' || effort === 'default') return NOTHING;
  const style = room.capabilities.reasoning;
  return style === undefined ? DROPPED : STYLES[style](effort, room);
}

const STYLES: Readonly<Record<ReasoningStyle, (effort: string, room: Room) => EncodedThinking>> = {
  adaptive: (effort, { capabilities }) => {
    if (effort === 'none' && capabilities.canDisableThinking) return { ...NOTHING, fields: { thinking: { type: 'disabled' } } };
    const fields = { thinking: { type: 'adaptive', display: 'summarized' } };
    const known = effort === 'xhigh' && capabilities.hasExtraEffort ? effort : (lookUp(ADAPTIVE_EFFORTS, effort) ?? 'high');
    return { ...NOTHING, fields, effort: known, takesSampling: false, isDropped: effort === 'none' };
  },
  budget: (effort, room) => {
    if (effort === 'none') return NOTHING;
    const limit = room.outputTokens ?? room.capabilities.outputTokensMax;
    const budget = Math.min(lookUp(BUDGETS, effort) ?? BUDGET_DEFAULT, Math.floor(limit / 2));
    if (budget < BUDGET_MIN || room.lacksThoughts()) return DROPPED;
    return { ...NOTHING, fields: { thinking: { type: 'enabled', budget_tokens: budget } }, takesSampling: false, takesForcing: false };
  },
  nova: (effort, { outputTokens }) => {
    if (effort === 'none') return { ...NOTHING, fields: { reasoningConfig: { type: 'disabled' } } };
    const wanted = lookUp(THREE_EFFORTS, effort) ?? 'medium';
    // Its highest effort does not allow an output limit, and the limit caps the cost.
    const maxReasoningEffort = wanted === 'high' && outputTokens !== undefined ? 'medium' : wanted;
    return {
      ...NOTHING,
      fields: { reasoningConfig: { type: 'enabled', maxReasoningEffort } },
      takesSampling: maxReasoningEffort !== 'high',
    };
  },
  'gpt-oss': (effort) => {
    const known = lookUp(THREE_EFFORTS, effort);
    return known === undefined ? DROPPED : { ...NOTHING, fields: { reasoning_effort: known } };
  },
  openai: (effort, { capabilities }) => {
    const isLowest = effort === 'minimal' || (effort === 'none' && !capabilities.canDisableThinking);
    return { ...NOTHING, fields: { reasoning: { effort: isLowest ? 'low' : effort } }, isDropped: isLowest && effort === 'none' };
  },
};

/** Thinking that cannot be turned off is kept low. */
const ADAPTIVE_EFFORTS: Readonly<Record<string, string>> = {
  none: 'low',
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'max',
};
const THREE_EFFORTS: Readonly<Record<string, string>> = {
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
};
const BUDGETS: Readonly<Record<string, number>> = { minimal: 1024, low: 2048, medium: 8192, high: 16_384, xhigh: 24_576, max: 32_000 };
const BUDGET_DEFAULT = 8192;
const BUDGET_MIN = 1024;
