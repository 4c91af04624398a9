import type { JsonObject } from '../../openai/types.ts';
import { EFFORTS, type Effort } from './capabilities.ts';
import { isThinking } from './carried.ts';
import type { Draft } from './draft.ts';
import { encodeMessages } from './encode-messages.ts';

/** How the model is told to think. */
export interface Thinking {
  readonly field: JsonObject | undefined;
  readonly effort: Effort | undefined;
  /** Whether the model may think in this turn; only then it takes its earlier thinking back. */
  readonly isOn: boolean;
}

interface Circumstances {
  readonly outputTokensMax: number;
  readonly isToolForced: boolean;
}

/** Encodes `reasoning_effort`. Without it the model does what it does by itself. */
export function encodeThinking(draft: Draft, circumstances: Circumstances): Thinking {
  const { chat, can } = draft;
  const wanted = chat['reasoning_effort'];
  const unasked: Thinking = { field: undefined, effort: undefined, isOn: can.thinksUnasked };
  if (typeof wanted !== 'string' || wanted === 'default') return unasked;
  if (wanted === 'none') return can.thinksUnasked ? thinkLeast(draft) : unasked;
  const effort = nearest(LEVELS[wanted] ?? 'medium', can.efforts);
  if (can.thinking === 'adaptive') return { field: ADAPTIVE, effort, isOn: true };
  const budget = can.thinking === 'budget' ? budgetFor(wanted, draft, circumstances) : undefined;
  if (budget === undefined) {
    draft.dropped.add('reasoning_effort');
    return unasked;
  }
  return { field: { type: 'enabled', budget_tokens: budget }, effort, isOn: true };
}

/** Without `display` the thinking comes back without its text. */
const ADAPTIVE: JsonObject = { type: 'adaptive', display: 'summarized' };

const LEVELS: Readonly<Record<string, Effort>> = { minimal: 'low', low: 'low', medium: 'medium', high: 'high', xhigh: 'xhigh', max: 'max' };

/** The share of the output limit that thinking may take, where a model wants a number. The rest is for the answer. */
const SHARES: Readonly<Record<string, number>> = { minimal: 0.1, low: 0.2, medium: 0.5, high: 0.8, xhigh: 0.9, max: 0.95 };
const BUDGET_TOKENS_MIN = 1024;

function thinkLeast({ can, dropped }: Draft): Thinking {
  switch (can.thinksLeast) {
    case 'disabled':
      return { field: { type: 'disabled' }, effort: undefined, isOn: false };
    case 'between_tools':
      return { field: { type: 'between_tools' }, effort: undefined, isOn: true };
    case 'low_effort':
      dropped.add('reasoning_effort');
      return { field: ADAPTIVE, effort: 'low', isOn: true };
  }
}

/** The level itself, or the next lower one that the model knows: nobody pays for more thinking than was asked for. */
function nearest(wanted: Effort, known: readonly Effort[]): Effort | undefined {
  return EFFORTS.slice(0, EFFORTS.indexOf(wanted) + 1).findLast((effort) => known.includes(effort));
}

/** Thinking counts against the output limit. Undefined where a budget would be refused. */
function budgetFor(level: string, draft: Draft, { outputTokensMax, isToolForced }: Circumstances): number | undefined {
  if (isToolForced || outputTokensMax <= BUDGET_TOKENS_MIN || hasLostThinking(draft)) return undefined;
  return Math.max(BUDGET_TOKENS_MIN, Math.floor(outputTokensMax * (SHARES[level] ?? 0.5)));
}

/**
 * A round of tool calls must begin with the thinking that led to it; where that is lost, the round goes on without any.
 * What belongs to a round is seen only in the turns as they are sent: a user who speaks beside results does not end it.
 */
function hasLostThinking(draft: Draft): boolean {
  const { turns } = encodeMessages(draft, { takesThinking: true });
  const question = turns.findLastIndex(({ role, content }) => role === 'user' && content.every(({ type }) => type !== 'tool_result'));
  const first = turns.slice(question + 1).find(({ content }) => content.some(({ type }) => type === 'tool_use'));
  return first !== undefined && !first.content.slice(0, 1).some(isThinking);
}
