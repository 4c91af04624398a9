import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../../src/openai/types.ts';
import { CONTEXT, message, readStream, readWhole, text, thinking, toolUse } from './decoding.ts';

const keep = (content: JsonObject[], model = 'claude-opus-5'): JsonObject[] =>
  [...(readWhole(message(content, { model })).decoded.carried ?? [])].map(([id, value]) => ({
    id,
    ...(JSON.parse(value) as JsonObject),
  }));

describe('the blocks kept for the next turn', () => {
  test('are those before each call', () => {
    const redacted = { type: 'redacted_thinking', data: 'x' };
    expect(
      keep([thinking, text('a'), text(' '), toolUse('t1', 'x', {}), toolUse('t2', 'x', {}), redacted, toolUse('t3', 'x', {}), text('z')]),
    ).toEqual([
      { id: 't1', model: 'claude-opus-5', blocks: [thinking, text('a')] },
      { id: 't3', model: 'claude-opus-5', blocks: [redacted] },
    ]);
  });

  test('are none without thinking, without calls, or without a signature', () => {
    expect(keep([text('a'), toolUse('t1', 'x', {})])).toEqual([]);
    expect(keep([thinking, text('a')])).toEqual([]);
    expect(keep([{ ...thinking, signature: '' }, toolUse('t1', 'x', {})])).toEqual([]);
  });

  test('after a pause are the whole answer so far', () => {
    const search = { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'a' } };
    const paused = message([thinking, search], { stop_reason: 'pause_turn' });
    const continuation = JSON.stringify([thinking, search]);
    expect(readWhole(paused)).toMatchObject({ finish: 'stop', decoded: { continuation } });
    const streamed = readStream(paused);
    expect(streamed).toMatchObject({ finish: null, decoded: { continuation, isComplete: true, isDone: true } });
    const again = message([text('b'), toolUse('t1', 'x', {})], { stop_reason: 'pause_turn' });
    const context = { ...CONTEXT, continuation };
    for (const { decoded } of [readWhole(again, context), readStream(again, context)]) {
      expect(decoded.continuation).toBe(JSON.stringify([thinking, search, ...again.content]));
      expect(decoded.carried?.get('t1')).toBe(JSON.stringify({ model: 'claude-opus-5', blocks: [thinking, search, text('b')] }));
    }
    expect(readWhole(message([])).decoded.continuation).toBeUndefined();
  });
});
