import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { isObject } from '../openai/types.ts';

/** What is to be counted. */
export interface CountRequest {
  readonly id: number;
  /** The `Prompt` as JSON: numbers that keep their digits as they were written cannot be handed to a thread. */
  readonly prompt: string;
  readonly outputText: string;
}

/** What of a request is counted. */
export interface Prompt {
  readonly messages: readonly Record<string, unknown>[];
  readonly tools: unknown;
}

/** How many tokens it has, by a tokenizer that is close to most models' own. */
export interface CountedTokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** What the frame of a message and of an answer takes. */
const MESSAGE_TOKENS = 4;
const ANSWER_TOKENS = 3;
/** A middling picture. */
const MEDIA_TOKENS = 1000;
/** The tokenizer's time grows with the square of a word, and a text may be one word: it is counted in pieces of at most this many characters. */
const PIECE_CHARACTERS_MAX = 1024;

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<CountRequest>) => {
  self.postMessage({ id: data.id, inputTokens: countInput(JSON.parse(data.prompt) as Prompt), outputTokens: count(data.outputText) });
};
// Says that it is loaded: nobody waits for this number.
self.postMessage({ id: 0, inputTokens: 0, outputTokens: 0 });

function countInput({ messages, tools }: Prompt): number {
  let tokens = ANSWER_TOKENS + (tools === undefined ? 0 : count(JSON.stringify(tools)));
  for (const message of messages) tokens += MESSAGE_TOKENS + countMessage(message);
  return tokens;
}

function countMessage(message: Record<string, unknown>): number {
  const { content, tool_calls: toolCalls } = message;
  let tokens = Array.isArray(toolCalls) ? count(JSON.stringify(toolCalls)) : 0;
  if (typeof content === 'string') return tokens + count(content);
  for (const part of Array.isArray(content) ? content.filter(isObject) : [])
    tokens += typeof part['text'] === 'string' ? count(part['text']) : MEDIA_TOKENS;
  return tokens;
}

/** Texts that look like control tokens are only texts here. */
function count(text: string): number {
  let tokens = 0;
  for (let start = 0; start < text.length;) {
    const piece = takePiece(text, start);
    tokens += countTokens(piece, { disallowedSpecial: new Set() });
    start += piece.length;
  }
  return tokens;
}

/** Up to the last blank, before which a token ends anyway; a word without an end is cut. */
function takePiece(text: string, start: number): string {
  const piece = text.slice(start, start + PIECE_CHARACTERS_MAX);
  const blank = start + piece.length < text.length ? piece.lastIndexOf(' ') : -1;
  return blank > 0 ? piece.slice(0, blank) : piece;
}
