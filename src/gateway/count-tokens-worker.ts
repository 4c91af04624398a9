import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { isObject } from '../openai/types.ts';

/** What is to be counted. */
export interface CountRequest {
  readonly id: number;
  readonly messages: readonly Record<string, unknown>[];
  readonly tools: unknown;
  readonly outputText: string;
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

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<CountRequest>) => {
  self.postMessage({ id: data.id, inputTokens: countInput(data), outputTokens: count(data.outputText) });
};

function countInput({ messages, tools }: CountRequest): number {
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
  return countTokens(text, { disallowedSpecial: new Set() });
}
