import type { Recorded } from '../recorded.ts';
import type { JsonObject } from '../wire.ts';
import { pieces, REFUSAL, type Speech } from './speech.ts';

/** Composes the answer of a Claude model. `answersBy` is the tool that carries a JSON answer where a schema cannot be requested. */
export function composeMessages(speech: Speech, answersBy?: string): Recorded {
  const content = answersBy === undefined ? blocksOf(speech) : [answerBlock(speech, answersBy)];
  const head = { id: 'msg_spoken', type: 'message', role: 'assistant', model: 'claude-simulated' };
  const { tokens } = speech;
  const input = {
    input_tokens: tokens.input,
    cache_read_input_tokens: tokens.cacheRead,
    cache_creation_input_tokens: tokens.cacheWrite,
    service_tier: 'standard',
  };
  const usage = { ...input, output_tokens: tokens.output, output_tokens_details: { thinking_tokens: tokens.reasoning } };
  const stop = {
    stop_reason: answersBy === undefined ? STOP_REASONS[speech.end] : 'tool_use',
    stop_sequence: speech.end === 'stop_sequence' ? 'END' : null,
    ...(speech.end === 'refusal' ? { stop_details: { type: 'refusal', explanation: REFUSAL } } : {}),
  };
  return {
    body: JSON.stringify({ ...head, content, ...stop, usage }),
    events: [
      {
        type: 'message_start',
        message: { ...head, content: [], stop_reason: null, stop_sequence: null, usage: { ...input, output_tokens: 1 } },
      },
      { type: 'ping' },
      ...content.flatMap(blockEvents),
      { type: 'message_delta', delta: stop, usage },
      { type: 'message_stop' },
    ],
  };
}

const STOP_REASONS: Readonly<Record<Speech['end'], string>> = {
  stop: 'end_turn',
  stop_sequence: 'stop_sequence',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  refusal: 'refusal',
};

function blocksOf({ reasoning, text, calls = [] }: Speech): JsonObject[] {
  return [
    ...(reasoning === undefined ? [] : [{ type: 'thinking', thinking: reasoning, signature: 'c2lnbmVk' }]),
    ...(text === undefined ? [] : [{ type: 'text', text }]),
    ...calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args })),
  ];
}

function answerBlock({ text = '{}' }: Speech, name: string): JsonObject {
  return { type: 'tool_use', id: 'toolu_answer', name, input: JSON.parse(text) as unknown };
}

function blockEvents(block: JsonObject, index: number): JsonObject[] {
  const [start, deltas] = grow(block);
  return [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

function grow(block: JsonObject): [start: JsonObject, deltas: JsonObject[]] {
  if (block['type'] === 'text')
    return [{ type: 'text', text: '' }, pieces(String(block['text'])).map((text) => ({ type: 'text_delta', text }))];
  if (block['type'] === 'thinking') {
    const words = pieces(String(block['thinking'])).map((thinking) => ({ type: 'thinking_delta', thinking }));
    return [{ type: 'thinking', thinking: '', signature: '' }, [...words, { type: 'signature_delta', signature: block['signature'] }]];
  }
  const json = JSON.stringify(block['input']);
  // A call without arguments has one empty piece.
  const parts = json === '{}' ? [''] : pieces(json);
  return [{ ...block, input: {} }, parts.map((partial_json) => ({ type: 'input_json_delta', partial_json }))];
}
