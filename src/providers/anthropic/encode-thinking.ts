import type { JsonObject } from '../../openai/types.ts';
import { EFFORTS, type Effort } from './capabilities.ts';
import { isThinking } from './carried.ts';
import type { Draft } from './draft.ts';
import { encodeMessages } from './encode-messages.ts';
import { lookUp } from '../look-up.ts';

/** The thinking settings of a request. */
export interface Thinking {
  readonly field: JsonObject | undefined;
  readonly effort: Effort | undefined;
  /** Whether the model may think in this turn. Only then does it accept its earlier thinking. */
  readonly isOn: boolean;
}

interface Circumstances {
  readonly outputTokensMax: number;
  readonly isToolForced: boolean;
}

/** Encodes `reasoning_effort`. Without it the model's default applies. */
export function encodeThinking(draft: Draft, circumstances: Circumstances): Thinking {
  const { chat, capabilities } = draft;
  const wanted = chat['reasoning_effort'];
  const byDefault: Thinking = { field: undefined, effort: undefined, isOn: capabilities.thinksByDefault };
  if (typeof wanted !== 'string' || wanted === 'default') return byDefault;
  if (wanted === 'none') return capabilities.thinksByDefault ? thinkLeast(draft) : byDefault;
  const effort = nearest(lookUp(LEVELS, wanted) ?? 'medium', capabilities.efforts);
  if (capabilities.thinking === 'adaptive') return { field: ADAPTIVE, effort, isOn: true };
  const budget = capabilities.thinking === 'budget' ? budgetFor(wanted, draft, circumstances) : undefined;
  if (budget === undefined) {
    draft.dropped.add('reasoning_effort');
    return byDefault;
  }
  return { field: { type: 'enabled', budget_tokens: budget }, effort, isOn: true };
}

/** Without `display`, thinking is returned without its text. */
const ADAPTIVE: JsonObject = { type: 'adaptive', display: 'summarized' };

const LEVELS: Readonly<Record<string, Effort>> = { minimal: 'low', low: 'low', medium: 'medium', high: 'high', xhigh: 'xhigh', max: 'max' };

/** The share of the output limit that thinking may use, for models with a token budget. The rest is left for the answer. */
const SHARES: Readonly<Record<string, number>> = { minimal: 0.1, low: 0.2, medium: 0.5, high: 0.8, xhigh: 0.9, max: 0.95 };
const BUDGET_TOKENS_MIN = 1024;

function thinkLeast({ capabilities, dropped }: Draft): Thinking {
  switch (capabilities.leastThinking) {
    case 'disabled':
      return { field: { type: 'disabled' }, effort: undefined, isOn: false };
    case 'between_tools':
      return { field: { type: 'between_tools' }, effort: undefined, isOn: true };
    case 'low_effort':
      dropped.add('reasoning_effort');
      return { field: ADAPTIVE, effort: 'low', isOn: true };
  }
}

/** Returns the requested effort or the next lower one the model supports: nobody pays for more thinking than requested. */
function nearest(wanted: Effort, known: readonly Effort[]): Effort | undefined {
  return EFFORTS.slice(0, EFFORTS.indexOf(wanted) + 1).findLast((effort) => known.includes(effort));
}

/** Returns the thinking budget, which counts against the output limit. Undefined when a budget would be refused. */
function budgetFor(level: string, draft: Draft, { outputTokensMax, isToolForced }: Circumstances): number | undefined {
  if (isToolForced || outputTokensMax <= BUDGET_TOKENS_MIN || hasLostThinking(draft)) return undefined;
  return Math.max(BUDGET_TOKENS_MIN, Math.floor(outputTokensMax * (lookUp(SHARES, level) ?? 0.5)));
}

/**
 * True when the thinking that must start the current round of tool calls is lost. The round then continues without
 * thinking. Rounds are determined on the turns as sent: a user message next to results does not end one.
 */
function hasLostThinking(draft: Draft): boolean {
  const { turns } = encodeMessages(draft, { takesThinking: true });
  const question = turns.findLastIndex(({ role, content }) => role === 'user' && content.every(({ type }) => type !== 'tool_result'));
  const first = turns.slice(question + 1).find(({ content }) => content.some(({ type }) => type === 'tool_use'));
  return first !== undefined && !first.content.slice(0, 1).some(isThinking);
}
