import type { JsonObject } from '../../openai/types.ts';
import type { Thinking } from './capabilities.ts';
import type { Draft } from './draft.ts';
import { lookUp } from '../look-up.ts';

/** Levels and budgets per effort, as in Google's own OpenAI-compatible API. */
const EFFORTS: Readonly<Record<string, { readonly level: string; readonly budgetTokens: number }>> = {
  none: { level: 'MINIMAL', budgetTokens: 0 },
  minimal: { level: 'MINIMAL', budgetTokens: 512 },
  low: { level: 'LOW', budgetTokens: 1024 },
  medium: { level: 'MEDIUM', budgetTokens: 8192 },
  high: { level: 'HIGH', budgetTokens: 24_576 },
  xhigh: { level: 'HIGH', budgetTokens: 32_768 },
  max: { level: 'HIGH', budgetTokens: 32_768 },
};

/**
 * Encodes the amount of thinking. Without `reasoning_effort` nothing is sent: models have their own defaults, and one
 * that does not think refuses the field.
 */
export function encodeThinking({ chat, capabilities, dropped }: Draft): JsonObject | undefined {
  const asked = chat['reasoning_effort'];
  const effort = lookUp(EFFORTS, asked);
  if (effort === undefined) return undefined;
  const { thinking } = capabilities;
  if (thinking.type === 'none') {
    if (asked !== 'none') dropped.add('reasoning_effort');
    return undefined;
  }
  if (thinking.type === 'budget') return writeBudget(effort.budgetTokens, thinking);
  const thinkingLevel = effort.level === 'MINIMAL' ? thinking.lowest : effort.level;
  // The newest models always think. A caller who asked for none does not get to see the remaining thoughts.
  return { thinkingLevel, includeThoughts: asked !== 'none' };
}

function writeBudget(tokens: number, thinking: Extract<Thinking, { type: 'budget' }>): JsonObject {
  // Requesting thoughts where there are none is an error.
  if (tokens === 0 && thinking.canSwitchOff) return { thinkingBudget: 0 };
  const thinkingBudget = Math.min(thinking.tokensMax, Math.max(thinking.tokensMin, tokens));
  return { thinkingBudget, includeThoughts: tokens !== 0 };
}
