import { filledText, isObject, objectOf, objectsOf, type JsonObject } from '../../openai/types.ts';
import { decodeLogprobs } from './decode-logprobs.ts';

/** One piece of the model's output. */
export type Piece =
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  | CallPiece
  | { readonly type: 'image'; readonly url: string };

/** A function call, which arrives whole. */
export interface CallPiece {
  readonly type: 'call';
  readonly id: string | undefined;
  readonly name: string;
  readonly args: JsonObject;
  readonly signature: string | undefined;
}

/** One of the answers, or a part of one. */
export interface Candidate {
  readonly index: number;
  readonly pieces: readonly Piece[];
  readonly reason: string | undefined;
  /** Google's explanation of the finish reason. */
  readonly explanation: string | undefined;
  /** The token that continues an answer that broke off. */
  readonly continuationToken: string | undefined;
  readonly logprobs: JsonObject | undefined;
  /** The raw candidate, with its citation and grounding metadata. */
  readonly raw: JsonObject;
}

/** Joins the parts of a candidate across events, by its index. */
export type JoinParts = (index: number, parts: readonly JsonObject[], isEnd: boolean) => readonly JsonObject[];

/** Returns the candidates of an answer or an event. A blocked prompt has none and is returned as one filtered candidate. */
export function readCandidates(body: JsonObject, join?: JoinParts): readonly Candidate[] {
  const candidates = objectsOf(body['candidates']);
  if (candidates.length > 0) return candidates.map((candidate, position) => readCandidate(candidate, position, join));
  const feedback = objectOf(body['promptFeedback']);
  return feedback['blockReason'] === undefined ? [] : [readCandidate({ finishReason: 'PROHIBITED_CONTENT' }, 0)];
}

function readCandidate(candidate: JsonObject, position: number, join?: JoinParts): Candidate {
  const { index, content, finishReason, finishMessage, continuationToken, logprobsResult } = candidate;
  const parts = objectsOf(objectOf(content)['parts']);
  const place = typeof index === 'number' ? index : position;
  const reason = filledText(finishReason);
  return {
    index: place,
    pieces: (join?.(place, parts, reason !== undefined) ?? parts).flatMap(readPiece),
    reason,
    explanation: filledText(finishMessage),
    continuationToken: filledText(continuationToken),
    logprobs: decodeLogprobs(logprobsResult),
    raw: candidate,
  };
}

function readPiece(part: JsonObject): readonly Piece[] {
  const { text, functionCall: call, inlineData: data } = part;
  if (isObject(call)) return [readCall(call, part)];
  if (isObject(data)) return [{ type: 'image', url: `data:${String(data['mimeType'])};base64,${String(data['data'])}` }];
  // A part may hold only the signature of the text before it.
  if (typeof text !== 'string' || text === '') return [];
  return [{ type: part['thought'] === true ? 'reasoning' : 'text', text }];
}

function readCall(call: JsonObject, part: JsonObject): CallPiece {
  const { id, name, args } = call;
  return {
    type: 'call',
    id: filledText(id),
    name: String(name),
    args: objectOf(args),
    signature: filledText(part['thoughtSignature']),
  };
}
