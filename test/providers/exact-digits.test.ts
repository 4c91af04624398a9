import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { ChatRequest, JsonObject, WireUsage } from '../../src/openai/types.ts';
import { HOSTS } from '../../src/providers/hosts.ts';
import { DIALECTS } from '../../src/providers/dialects.ts';
import { parseExact } from '../../src/openai/parse-exact.ts';
import { addWireUsage } from '../../src/openai/usage.ts';
import type { ReplyContext, Target } from '../../src/providers/dialect.ts';

const ARGUMENTS = '{"channel_id":123456789012345678}';
const TOOLS = [{ type: 'function', function: { name: 'f' } }];
const CHAT: ChatRequest = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], tools: TOOLS };
const CONTEXT: ReplyContext = { modelId: 'our/model', wantsUsage: true, chat: CHAT, requestId: 'r', createdSeconds: 1 };

const CLAUDE = `{"type":"message","model":"c","content":[{"type":"tool_use","id":"t","name":"f","input":${ARGUMENTS}}],"stop_reason":"tool_use"}`;
const CONVERSE = `{"output":{"message":{"content":[{"toolUse":{"toolUseId":"t","name":"f","input":${ARGUMENTS}}}]}},"stopReason":"tool_use"}`;
const GEMINI = `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":${ARGUMENTS}}}]},"finishReason":"STOP"}]}`;
const PIECES = '[{"jsonPath":"$.channel_id","numberValue":123456789012345678},{"jsonPath":"$.channel_id.a","numberValue":1}]';
const GEMINI_PIECES = `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","partialArgs":${PIECES}}}]},"finishReason":"STOP"}]}`;

describe('integers beyond double precision', () => {
  test.each<[string, string]>([
    ['ids', '{"a":123456789012345678,"b":[ -98765432109876543210 ]}'],
    [
      'numbers that are not large integers',
      '{"a":0.12345678901234568,"b":1e+30,"c":[9007199254740991,9007199254740993],"d":"1234567890123456789"}',
    ],
  ])('are written as they were read: %s', (_, text) => {
    expect(JSON.stringify(parseExact(text))).toBe(text.replaceAll(' ', ''));
  });

  test('are written as they were read, for arbitrary values', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.bigInt(), fc.integer())), (list) => {
        const text = `{"list":[${list.join(', ')}]}`;
        expect(JSON.stringify(parseExact(text))).toBe(text.replaceAll(' ', ''));
      }),
    );
  });

  test.each([
    ['anthropic', CLAUDE],
    ['bedrock', CONVERSE],
    ['gemini', GEMINI],
  ] as const)('survive in the arguments of a call from %s', (dialect, reply) => {
    expect(JSON.stringify(DIALECTS[dialect].decodeReply(reply, CONTEXT).body)).toContain(JSON.stringify(ARGUMENTS));
  });

  const opened = `{"type":"content_block_start","index":0,"content_block":${CLAUDE.slice(CLAUDE.indexOf('[') + 1, CLAUDE.indexOf(']'))}}`;
  test.each([
    ['anthropic, at once', 'anthropic', opened],
    ['gemini', 'gemini', GEMINI],
    ['gemini, in pieces', 'gemini', GEMINI_PIECES],
  ] as const)('survive in the arguments of a streamed call from %s', (_, dialect, data) => {
    const chunks = DIALECTS[dialect].decodeStream(CONTEXT).push({ name: undefined, data });
    expect(chunks.join('')).toContain(JSON.stringify(ARGUMENTS));
  });

  const usage = '"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}';
  const relayed = (field: string): string =>
    `{"id":"i","created":1,"seed":-9223372036854775808,"choices":[{"index":0,"${field}":{"role":"assistant","content":"","tool_calls":` +
    `[{"id":"c","index":0,"type":"function","function":{"name":"f","arguments":${ARGUMENTS}}}]},"finish_reason":"tool_calls",` +
    `"token_ids":[18446744073709551615]}],${usage}}`;
  const plain = { id: 'i', created: 1, model: 'our/model', choices: [{ index: 0, finish_reason: 'tool_calls' }] };
  const survivors = [JSON.stringify(ARGUMENTS), '"seed":-9223372036854775808', '"token_ids":[18446744073709551615]'];

  test('survive in a relayed answer, whose counts stay numbers', () => {
    const reply = DIALECTS.openai.decodeReply(relayed('message'), CONTEXT);
    for (const part of survivors) expect(JSON.stringify(reply.body)).toContain(part);
    expect(reply.body).toMatchObject(plain);
    expect(reply.usage).toMatchObject({ inputTokens: 3, outputTokens: 4 });
  });

  test('survive in a relayed stream, whose counts stay numbers', () => {
    const decoder = DIALECTS.openai.decodeStream(CONTEXT);
    const chunks = decoder.push({ name: undefined, data: relayed('delta') });
    for (const part of survivors) expect(chunks.join('')).toContain(part);
    expect(JSON.parse(chunks.at(-1) ?? '')).toMatchObject(plain);
    expect(decoder.usage).toMatchObject({ inputTokens: 3, outputTokens: 4 });
  });

  test('survive in a relayed stream with a legacy function call', () => {
    const chat: ChatRequest = { model: 'm', messages: CHAT.messages, functions: [{ name: 'f' }] };
    const decoder = DIALECTS.openai.decodeStream({ ...CONTEXT, chat, host: HOSTS['mistral'] });
    const chunks = decoder.push({ name: undefined, data: relayed('delta') }).join('');
    expect(chunks).toContain('"function_call"');
    for (const part of survivors) expect(chunks).toContain(part);
  });

  test('are not taken for a time, an index or a count', () => {
    const huge = '12345678901234567890';
    const answer = relayed('message').replace('"created":1', `"created":${huge}`).replace('"index":0', `"index":${huge}`);
    const reply = DIALECTS.openai.decodeReply(answer.replace('"prompt_tokens":3', `"prompt_tokens":${huge}`), CONTEXT);
    expect(reply.body).toMatchObject(plain);
    expect(reply.usage).toBeUndefined();
  });

  test('survive where the reports of several answers are added up', () => {
    const [one, other] = ['1790000000000000001', '1790000000000000009'].map(
      (time) => parseExact(`{"prompt_tokens":1,"at":${time}}`) as WireUsage,
    );
    expect(JSON.stringify(addWireUsage(one as WireUsage, other as WireUsage))).toBe('{"prompt_tokens":2,"at":1790000000000000001}');
  });

  test.each([
    ['anthropic', 'claude-sonnet-4-5'],
    ['bedrock', 'anthropic.claude-sonnet-4-5'],
    ['gemini', 'gemini-3-pro'],
  ] as const)('survive in calls sent back to %s', (dialect, model) => {
    const target: Target = { baseUrl: 'https://example.com', apiKey: 'k', model, outputTokensMax: undefined };
    const encode = (text: string): string => {
      const call: JsonObject = { id: 'c', type: 'function', function: { name: 'f', arguments: text } };
      const said = { role: 'assistant', content: null, tool_calls: [call] };
      const messages = [...CHAT.messages, said, { role: 'tool', tool_call_id: 'c', content: 'ok' }];
      return DIALECTS[dialect].encodeRequest({ ...CHAT, messages }, target).body;
    };
    expect(encode(ARGUMENTS)).toContain(ARGUMENTS);
    expect(encode('[12345678901234567]')).toContain('{"value":[12345678901234567]}');
    expect(encode('12345678901234567')).toContain('{"value":');
    const deep = `${'[1234567890123456789,'.repeat(900)}1${']'.repeat(900)}`;
    expect(encode(`{"a":${deep}}`)).toContain(deep);
  });

  test('survive in the stored part of an answer that broke off', () => {
    const paused = CLAUDE.replace('"tool_use","id"', '"server_tool_use","id"').replace(
      '"stop_reason":"tool_use"',
      '"stop_reason":"pause_turn"',
    );
    const { continuation } = DIALECTS.anthropic.decodeReply(paused, CONTEXT);
    const target: Target = { baseUrl: '', apiKey: 'k', model: 'claude-sonnet-4-5', outputTokensMax: undefined, continuation };
    expect(DIALECTS.anthropic.encodeRequest(CHAT, target).body).toContain(ARGUMENTS);
  });
});
