import type { JsonObject } from '../wire.ts';

/** What a model says and its token counts, independent of any dialect. Each dialect has a composer for it. */
export interface Speech {
  readonly reasoning?: string;
  readonly text?: string;
  readonly calls?: readonly SpokenCall[];
  readonly end: 'stop' | 'stop_sequence' | 'length' | 'tool_calls' | 'refusal';
  readonly tokens: SpokenTokens;
  /** How many times it is said, as choices of one answer. */
  readonly choices?: number;
}

export interface SpokenCall {
  readonly id: string;
  readonly name: string;
  readonly args: JsonObject;
}

/** Counts that do not overlap, except that reasoning is part of the output. */
export interface SpokenTokens {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly reasoning: number;
}

/** The text of a refusal, where the dialect has one. */
export const REFUSAL = 'I cannot help with that.';

/** Splits a text as a stream delivers it. */
export function pieces(text: string): string[] {
  return text.match(/[^]{1,6}/gu) ?? [];
}
