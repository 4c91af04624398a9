import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../src/openai/types.ts';
import { openai } from '../../src/providers/openai.ts';
import { call, CONTEXT, ENVELOPE } from './relayed.ts';

const idsOf = (choices: readonly JsonObject[], field: 'delta' | 'message'): unknown[] =>
  choices.flatMap((choice) => (choice[field] as { tool_calls: JsonObject[] }).tool_calls.map(({ id }) => id));
const given = (field: string, more: JsonObject = {}): JsonObject => ({ ...more, [field]: { tool_calls: [call('a', '{}')] } });
const pushed = (context: typeof CONTEXT & { choiceIndex?: number }, choices: readonly JsonObject[]): JsonObject[] => {
  const texts = openai.decodeStream(context).push({ name: undefined, data: JSON.stringify({ ...ENVELOPE, choices }) });
  return texts.flatMap((text) => (JSON.parse(text) as { choices: JsonObject[] }).choices);
};
const whole = (context: typeof CONTEXT & { choiceIndex?: number }, choices: readonly JsonObject[]): JsonObject[] =>
  openai.decodeReply(JSON.stringify({ choices }), context).body['choices'] as JsonObject[];

test('a custom call without a type in a complete answer is labelled so', () => {
  const choices = [{ message: { tool_calls: [{ id: 'x', custom: { name: 'a', input: 'b' } }] } }];
  const labelled = { id: 'x', type: 'custom', custom: { name: 'a', input: 'b' } };
  expect(whole(CONTEXT, choices)).toMatchObject([{ message: { tool_calls: [labelled] } }]);
});

describe('generated tool-call ids', () => {
  test('replace those that a host gives twice in one answer', () => {
    const message = { tool_calls: [call('a', '{}', { id: 'x' }), call('b', '{}', { id: 'x' }), call('c', '{}', { id: 'y' })] };
    const [first, second] = [
      ['x', 'call_req_1_1', 'y'],
      ['call_req_1_1_0', 'call_req_1_1_1', 'call_req_1_1_2'],
    ] as const;
    expect(idsOf(whole(CONTEXT, [{ message }, { message }]), 'message')).toEqual([...first, ...second]);
  });

  test.each<[string, JsonObject]>([
    ['with', { index: 1 }],
    ['without', {}],
  ])('differ between the choices of an answer, %s an index', (_, second) => {
    const ids = ['call_req_1_0', 'call_req_1_1_0'];
    expect(idsOf(whole(CONTEXT, [given('message'), given('message', second)]), 'message')).toEqual(ids);
    expect(idsOf(pushed(CONTEXT, [given('delta'), given('delta', second)]), 'delta')).toEqual(ids);
  });

  test('differ between answers that are combined as choices', () => {
    const second = { ...CONTEXT, choiceIndex: 1 };
    expect(idsOf(whole(second, [given('message', { index: 0 })]), 'message')).toEqual(['call_req_1_1_0']);
    expect(idsOf(pushed(second, [given('delta', { index: 0 })]), 'delta')).toEqual(['call_req_1_1_0']);
  });
});
