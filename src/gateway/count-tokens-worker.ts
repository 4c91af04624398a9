import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { objectsOf } from '../openai/types.ts';
import { readCalls } from '../providers/output-text.ts';

/** A request to count tokens. */
export interface CountRequest {
  readonly id: number;
  /** The `Prompt` as JSON: numbers that keep their original digits cannot be sent to a thread. */
  readonly prompt: string;
  readonly outputText: string;
}

/** The parts of a request that are counted. */
export interface Prompt {
  readonly messages: readonly Record<string, unknown>[];
  readonly tools: unknown;
}

/** Token counts by a tokenizer that is close to those of most models. */
export interface CountedTokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** The overhead of each message, and of the answer. */
const MESSAGE_TOKENS = 4;
const ANSWER_TOKENS = 3;
/** The size of an average picture. */
const MEDIA_TOKENS = 1000;
/** The tokenizer's time grows with the square of a word's length, and a text may be one word. So it is counted in pieces of this size. */
const PIECE_CHARACTERS_MAX = 1024;

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<CountRequest>) => {
  self.postMessage({ id: data.id, inputTokens: countInput(JSON.parse(data.prompt) as Prompt), outputTokens: count(data.outputText) });
};
// Reports that the worker is loaded. No request has the id 0.
self.postMessage({ id: 0, inputTokens: 0, outputTokens: 0 });

function countInput({ messages, tools }: Prompt): number {
  let tokens = ANSWER_TOKENS + (tools === undefined ? 0 : count(JSON.stringify(tools)));
  for (const message of messages) tokens += MESSAGE_TOKENS + countMessage(message);
  return tokens;
}

function countMessage(message: Record<string, unknown>): number {
  const { content, refusal } = message;
  let tokens = count(readCalls(message)) + (typeof refusal === 'string' ? count(refusal) : 0);
  if (typeof content === 'string') return tokens + count(content);
  for (const part of objectsOf(content)) {
    const text = part['text'] ?? part['refusal'];
    tokens += typeof text === 'string' ? count(text) : MEDIA_TOKENS;
  }
  return tokens;
}

/** Counts a text. Parts that look like control tokens count as plain text. */
function count(text: string): number {
  let tokens = 0;
  for (let start = 0; start < text.length;) {
    const piece = takePiece(text, start);
    tokens += countTokens(piece, { disallowedSpecial: new Set() });
    start += piece.length;
  }
  return tokens;
}

/** Takes a piece up to the last space, where a token ends anyway. A word longer than a piece is cut. */
function takePiece(text: string, start: number): string {
  const piece = text.slice(start, start + PIECE_CHARACTERS_MAX);
  const space = start + piece.length < text.length ? piece.lastIndexOf(' ') : -1;
  return space > 0 ? piece.slice(0, space) : piece;
}
