import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../src/openai/types.ts';
import { DIALECTS } from '../../src/providers/dialects.ts';
import type { DialectName } from '../../src/providers/dialect-names.ts';

/** An answer that the gateway cuts off must still end in a way every client understands, in every dialect. */

const CONTEXT = { modelId: 'ours', wantsUsage: true, chat: { model: 'ours', messages: [], n: 3 }, requestId: 'r', createdSeconds: 1 };
const chunk = (index: number, finish: string | null = null): [undefined, JsonObject] => [
  undefined,
  { id: 'chatcmpl-1', created: 1, model: 'theirs', choices: [{ index, delta: { content: 'Hel' }, finish_reason: finish }] },
];
const candidate = (index: number, finishReason?: string): JsonObject => ({ index, content: { parts: [{ text: 'Hel' }] }, finishReason });
const CLAUDE: (readonly [string, JsonObject])[] = [
  ['message_start', { type: 'message_start', message: { id: 'msg_1', usage: {} } }],
  ['content_block_start', { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hel' } }],
];

const ROWS: readonly (readonly [DialectName, (readonly [name: string | undefined, data: JsonObject])[], open: number[]])[] = [
  ['openai', [chunk(0), chunk(1, 'stop'), chunk(2)], [0, 2]],
  ['azure', [chunk(0)], [0]],
  ['sandbox', [chunk(0)], [0]],
  ['anthropic', CLAUDE, [0]],
  ['anthropic-vertex', CLAUDE, [0]],
  ['gemini', [[undefined, { candidates: [candidate(0, 'STOP'), candidate(1)] }]], [1]],
  ['gemini-vertex', [[undefined, { candidates: [candidate(0)] }]], [0]],
  ['bedrock', [['contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hel' } }]], [0]],
];

/** Streams that have already ended. */
const ENDED: readonly (readonly [DialectName, (readonly [name: string | undefined, data: JsonObject])[]])[] = [
  ['openai', [chunk(0, 'stop')]],
  ['anthropic', [...CLAUDE, ['message_delta', { type: 'message_delta', delta: { stop_reason: 'end_turn' } }]]],
  ['gemini', [[undefined, { candidates: [candidate(0, 'STOP')] }]]],
  [
    'bedrock',
    [
      ['contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hel' } }],
      ['messageStop', { stopReason: 'end_turn' }],
    ],
  ],
];

describe('a stream that is cut off', () => {
  test.each(ENDED)('after its end does not end twice: %s', (name, events) => {
    const decoder = DIALECTS[name].decodeStream(CONTEXT);
    for (const [event, data] of events) decoder.push({ name: event, data: JSON.stringify(data) });
    expect(decoder.cut()).toEqual([]);
  });

  test('is tested for every dialect', () => {
    expect(ROWS.map(([name]) => name).toSorted()).toEqual(Object.keys(DIALECTS).toSorted() as DialectName[]);
  });

  test.each(ROWS)('ends every open choice with finish reason length: %s', (name, events, open) => {
    const decoder = DIALECTS[name].decodeStream(CONTEXT);
    for (const [event, data] of events) decoder.push({ name: event, data: JSON.stringify(data) });
    expect(decoder.outputText).not.toBe('');
    const chunks = decoder.cut().map((text) => JSON.parse(text) as { model: string; choices: JsonObject[] });
    expect(chunks.map(({ choices: [choice] }) => choice)).toEqual(
      open.map((index) => ({ index, delta: {}, logprobs: null, finish_reason: 'length' })),
    );
    expect(new Set(chunks.map(({ model }) => model))).toEqual(new Set(['ours']));
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
    expect(JSON.parse(decoder.usageChunk(usage))).toMatchObject({ model: 'ours', choices: [], usage });
  });
});
