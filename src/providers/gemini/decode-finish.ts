import type { FinishReason } from '../envelope.ts';
import { ProviderFault } from '../provider.ts';
import type { Candidate } from './decode-candidate.ts';

/** Reasons that have a word in the dialect. All others are failures of the model. */
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

/** What the answer is so far, when its end is read. */
export interface Progress {
  readonly hasOutput: boolean;
  readonly hasToolCalls: boolean;
}

/**
 * Why a candidate ended. Google never says that it ended with tool calls: agents would stop if it were not worked out. A
 * failed model that said nothing is a fault; one that said something has at least said that.
 */
export function decodeFinish(reason: string, { explanation }: Candidate, { hasOutput, hasToolCalls }: Progress): FinishReason {
  const finish = Object.hasOwn(FINISH_REASONS, reason) ? FINISH_REASONS[reason] : undefined;
  if (finish === undefined && !hasOutput)
    throw new ProviderFault(`The model ended without an answer (${reason})${explanation === undefined ? '' : `: ${explanation}`}`, {
      status: 502,
    });
  return finish === undefined || finish === 'stop' ? (hasToolCalls ? 'tool_calls' : 'stop') : finish;
}

/** The token for the rest of an answer that Google cut at its own limit. At the caller's limit there may be one as well. */
export function continuationTokenOf({ reason, continuationToken }: Candidate): string | undefined {
  return reason === 'CONTINUATION' ? continuationToken : undefined;
}
