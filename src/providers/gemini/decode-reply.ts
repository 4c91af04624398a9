import type { JsonObject } from '../../openai/types.ts';
import { writeCompletion, writeMessage, type WholeChoice } from '../write-answer.ts';
import { countMedia, writeMedia } from '../output-text.ts';
import { ProviderFault, type DecodedReply, type ReplyContext } from '../dialect.ts';
import { measureEarlier, writeContinuation } from './continuation.ts';
import { readCandidates, type Candidate, type Piece } from './decode-candidate.ts';
import { readCitations, writeAnnotations } from './decode-citations.ts';
import { parseAnswer } from './decode-fault.ts';
import { continuationTokenOf, decodeFinish } from './decode-finish.ts';
import { decodeUsage } from './decode-usage.ts';
import type { Service } from './draft.ts';
import { readCall, ToolCallWriter } from './tool-call-writer.ts';

/** Decodes a complete answer. */
export function decodeReply(text: string, context: ReplyContext, service: Service): DecodedReply {
  const body = parseAnswer(text);
  const candidates = readCandidates(body);
  const [first] = candidates;
  if (first === undefined) throw new ProviderFault('The provider answered without candidates');
  const calls = new ToolCallWriter(context, service);
  const choices = candidates.map((candidate) => writeChoice(candidate, calls, { context, responseId: body['responseId'] }));
  const reported = decodeUsage(body['usageMetadata']);
  const token = continuationTokenOf(first);
  return {
    body: { ...writeCompletion(context, choices), ...(reported === undefined ? {} : { usage: reported.wireUsage }) },
    usage: reported?.usage,
    outputText: candidates
      .flatMap(({ pieces }) => pieces)
      .map(readOutput)
      .join(''),
    carried: calls.carried,
    continuation:
      token === undefined
        ? undefined
        : writeContinuation({
            token,
            toolCalls: calls.count,
            textLength: measureEarlier(context).textLength + joinText(first.pieces, 'text').length,
          }),
  };
}

/** Returns the text of a piece, for counting. */
export function readOutput(piece: Piece): string {
  return piece.type === 'call' ? readCall(piece) : piece.type === 'image' ? IMAGE : piece.text;
}

/** What an image counts as. */
const IMAGE = writeMedia(countMedia({ images: [{}] }));

interface Source {
  readonly context: ReplyContext;
  readonly responseId: unknown;
}

function writeChoice(candidate: Candidate, calls: ToolCallWriter, { context, responseId }: Source): WholeChoice {
  const { pieces } = candidate;
  const hadCalls = calls.count > 0 && context.continuation !== undefined;
  const toolCalls = pieces.flatMap((piece): JsonObject[] => (piece.type === 'call' ? [calls.write(piece, responseId)] : []));
  const images = pieces.flatMap((piece) => (piece.type === 'image' ? [writeImage(piece.url)] : []));
  const [text, reasoning] = [joinText(pieces, 'text'), joinText(pieces, 'reasoning')];
  const annotations = writeAnnotations(readCitations(candidate.raw, true), text, measureEarlier(context).textLength);
  const finish = decodeFinish(candidate.reason ?? 'STOP', candidate, {
    hasAnswer: pieces.some(({ type }) => type !== 'reasoning') || context.continuation !== undefined,
    hasToolCalls: hadCalls || toolCalls.length > 0,
  });
  return {
    finish,
    logprobs: candidate.logprobs,
    message: { ...writeMessage({ text, reasoning, toolCalls, annotations }), ...(images.length === 0 ? {} : { images }) },
  };
}

/** Writes an image. The dialect has no field for images in an answer; this is the format that clients with image support read. */
export function writeImage(url: string): JsonObject {
  return { type: 'image_url', image_url: { url } };
}

function joinText(pieces: readonly Piece[], type: 'text' | 'reasoning'): string {
  return pieces.map((piece) => (piece.type === type ? piece.text : '')).join('');
}
