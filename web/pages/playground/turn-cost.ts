import { costOf, usdOf } from '../../price.ts';
import type { Turn } from './conversation.ts';

/** Usage and cost of a turn: exact if the response reports them, otherwise estimated from the length of the texts. */
export interface TurnCost {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly usd: string;
  readonly isExact: boolean;
}

/** Rule of thumb, used until the response reports its tokens. */
const CHARACTERS_PER_TOKEN = 4;
const NOTHING = { inputTokens: 0, outputTokens: 0, usd: '0' } as const;

export function costOfTurn(turns: readonly Turn[], index: number): TurnCost {
  const turn = turns[index];
  if (turn === undefined) return { ...NOTHING, isExact: false };
  const { model } = turn;
  const usage = turn.result?.usage;
  if (usage !== undefined) {
    const { inputTokens, cachedTokens, outputTokens, cost } = usage;
    const tokens = { input: inputTokens - cachedTokens, cachedInput: cachedTokens, cacheWrite: 0, output: outputTokens };
    return { inputTokens, outputTokens, usd: cost === undefined ? costOf(model, tokens) : usdOf(cost), isExact: cost !== undefined };
  }
  if (turn.answer === '') return { ...NOTHING, isExact: turn.failure !== undefined };
  const before = turns.slice(0, index).map(({ question, answer }) => question + answer);
  const inputTokens = estimateTokens([...before, turn.question].join(''));
  const outputTokens = estimateTokens(turn.answer);
  return {
    inputTokens,
    outputTokens,
    usd: costOf(model, { input: inputTokens, cachedInput: 0, cacheWrite: 0, output: outputTokens }),
    isExact: false,
  };
}

function estimateTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}
