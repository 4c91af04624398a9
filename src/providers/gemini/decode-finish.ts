import type { FinishReason } from '../../openai/types.ts';
import { ProviderFault } from '../dialect.ts';
import type { Candidate } from './decode-candidate.ts';
import { lookUp } from '../look-up.ts';

/** The finish reasons with an equivalent in the OpenAI dialect. All others are model failures. */
const FINISH_REASONS: Readonly<Record<string, FinishReason>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  CONTINUATION: 'length',
  SAFETY: 'content_filter',
  RECITATION: 'content_filter',
  BLOCKLIST: 'content_filter',
  PROHIBITED_CONTENT: 'content_filter',
  SPII: 'content_filter',
  LANGUAGE: 'content_filter',
  MODEL_ARMOR: 'content_filter',
  IMAGE_SAFETY: 'content_filter',
  IMAGE_PROHIBITED_CONTENT: 'content_filter',
  IMAGE_RECITATION: 'content_filter',
};

/** The state of the answer when its finish reason is read. */
export interface AnswerState {
  /** Whether there is more than thoughts. */
  readonly hasAnswer: boolean;
  readonly hasToolCalls: boolean;
}

/**
 * Returns the finish reason of a candidate. Google never reports tool calls as a reason, and agents would stop without
 * it, so it is derived. A failure without an answer is a fault. What was answered before one counts.
 */
export function decodeFinish(reason: string, { explanation }: Candidate, { hasAnswer, hasToolCalls }: AnswerState): FinishReason {
  const finish = lookUp(FINISH_REASONS, reason);
  if (finish === undefined && !hasAnswer)
    throw new ProviderFault(`The model ended without an answer (${reason})${explanation === undefined ? '' : `: ${explanation}`}`, {
      status: 502,
    });
  return finish === undefined || finish === 'stop' ? (hasToolCalls ? 'tool_calls' : 'stop') : finish;
}

/**
 * Returns the token for the rest of an answer that Google cut at its own limit. Google may also send one at the
 * caller's limit, where it is ignored.
 */
export function continuationTokenOf({ reason, continuationToken }: Candidate): string | undefined {
  return reason === 'CONTINUATION' ? continuationToken : undefined;
}
