import type { Recorded } from '../recorded.ts';
import type { JsonObject } from '../wire.ts';
import { pieces, REFUSAL, type Speech } from './speech.ts';

/** Composes the answer of a model at Bedrock. Events are `{ name: payload }`. */
export function composeConverse(speech: Speech): Recorded {
  const content = blocksOf(speech);
  const stopReason = STOP_REASONS[speech.end];
  const { tokens } = speech;
  const usage = {
    inputTokens: tokens.input,
    cacheReadInputTokens: tokens.cacheRead,
    cacheWriteInputTokens: tokens.cacheWrite,
    outputTokens: tokens.output,
    totalTokens: tokens.input + tokens.cacheRead + tokens.cacheWrite + tokens.output,
  };
  const metrics = { latencyMs: 12 };
  return {
    body: JSON.stringify({ output: { message: { role: 'assistant', content } }, stopReason, usage, metrics }),
    events: [
      { messageStart: { role: 'assistant' } },
      ...content.flatMap(blockEvents),
      { messageStop: { stopReason } },
      { metadata: { usage, metrics } },
    ],
  };
}

const STOP_REASONS: Readonly<Record<Speech['end'], string>> = {
  stop: 'end_turn',
  stop_sequence: 'stop_sequence',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  refusal: 'guardrail_intervened',
};

function blocksOf({ reasoning, text, calls = [], end }: Speech): JsonObject[] {
  if (end === 'refusal') return [{ text: REFUSAL }];
  return [
    ...(reasoning === undefined ? [] : [{ reasoningContent: { reasoningText: { text: reasoning, signature: 'c2lnbmVk' } } }]),
    ...(text === undefined ? [] : [{ text }]),
    ...calls.map(({ id, name, args }) => ({ toolUse: { toolUseId: id, name, input: args } })),
  ];
}

function blockEvents(block: JsonObject, contentBlockIndex: number): JsonObject[] {
  const [start, deltas] = grow(block);
  return [
    ...(start === undefined ? [] : [{ contentBlockStart: { contentBlockIndex, start } }]),
    ...deltas.map((delta) => ({ contentBlockDelta: { contentBlockIndex, delta } })),
    { contentBlockStop: { contentBlockIndex } },
  ];
}

/** Only calls have a start event. One without arguments has nothing else. */
function grow(block: JsonObject): [start: JsonObject | undefined, deltas: JsonObject[]] {
  if (typeof block['text'] === 'string') return [undefined, pieces(block['text']).map((text) => ({ text }))];
  const { toolUse, reasoningContent } = block as {
    toolUse?: JsonObject;
    reasoningContent?: { reasoningText: { text: string; signature: string } };
  };
  if (toolUse !== undefined) {
    const { input, ...start } = toolUse;
    const json = JSON.stringify(input);
    return [{ toolUse: start }, json === '{}' ? [] : pieces(json).map((piece) => ({ toolUse: { input: piece } }))];
  }
  const { text = '', signature = '' } = reasoningContent?.reasoningText ?? {};
  return [undefined, [...pieces(text).map((piece) => ({ reasoningContent: { text: piece } })), { reasoningContent: { signature } }]];
}
