import { describe, expect, test } from 'bun:test';
import type { ChatRequest, JsonObject } from '../../src/openai/types.ts';
import { anthropic } from '../../src/providers/anthropic/anthropic.ts';
import { bedrock } from '../../src/providers/bedrock/bedrock.ts';
import { HOSTS } from '../../src/providers/hosts.ts';
import { DIALECTS } from '../../src/providers/dialects.ts';
import { gemini } from '../../src/providers/gemini/gemini.ts';
import { openai } from '../../src/providers/openai.ts';
import type { Dialect } from '../../src/providers/dialect.ts';
import { contextFor } from './drive.ts';

/** Names that every object inherits, so that a plain table seems to have them. */
const INHERITED = ['constructor', '__proto__', 'toString', 'hasOwnProperty'];
const CHAT: ChatRequest = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };

describe.each(INHERITED)('the name %s', (name) => {
  test.each<[string, Dialect, unknown]>([
    ['anthropic', anthropic, { content: [{ type: 'text', text: 'a' }], stop_reason: name }],
    ['bedrock', bedrock, { output: { message: { content: [{ text: 'a' }] } }, stopReason: name }],
    ['gemini', gemini, { candidates: [{ content: { parts: [{ text: 'a' }] }, finishReason: name }] }],
    ['openai', openai, { choices: [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: name }] }],
  ])('is no finish reason of %s', (_, dialect, answer) => {
    const host = HOSTS['mistral'];
    const { body } = dialect.decodeReply(JSON.stringify(answer), contextFor(CHAT, { host }));
    expect(JSON.stringify(body['choices'])).toContain('"finish_reason":"stop"');
  });

  test.each<[string, Dialect, unknown]>([
    ['anthropic', anthropic, { type: 'error', error: { type: name, message: `${name}: no` } }],
    ['bedrock', bedrock, { __type: name, message: 'no' }],
    ['gemini', gemini, { error: { status: name, message: 'no' } }],
  ])('is no error of %s', (_, dialect, error) => {
    const fault = dialect.decodeFault(JSON.stringify(error), 418, () => null);
    expect(fault.status).toBe(418);
    expect([undefined, name]).toContain(fault.code);
    expect(fault.param).toBeUndefined();
  });

  test.each(Object.entries(DIALECTS))('as a value in a request is nothing special for %s', (_, dialect) => {
    const models = [
      'claude-opus-5',
      'claude-sonnet-4-5',
      'anthropic.claude-sonnet-4-5',
      'amazon.nova-2-lite',
      'openai.gpt-oss-20b',
      'gemini-2.5-pro',
    ];
    for (const model of models) {
      const encode = (value: string): JsonObject => {
        const fields = { reasoning_effort: value, service_tier: value, tool_choice: value };
        const messages = [{ role: value, content: 'Hi' }];
        const tools = [{ type: 'function', function: { name: 'f' } }];
        const target = {
          baseUrl: 'https://a.example',
          apiKey: 'k',
          model,
          outputTokensMax: 9000,
          host: HOSTS['groq'],
          apiVersion: '2024-06-01',
        };
        return JSON.parse(dialect.encodeRequest({ ...CHAT, ...fields, messages, tools }, target).body) as JsonObject;
      };
      expect(JSON.stringify(encode(name)).replaceAll(name, 'unknown')).toBe(JSON.stringify(encode('unknown')));
    }
  });
});

test('a path that leads through an inherited name adds to the call alone', () => {
  const paths = ['$.constructor.prototype.polluted', '$.toString.polluted', '$.constructor'];
  const partialArgs = paths.map((jsonPath) => ({ jsonPath, stringValue: 'x' }));
  const part = { functionCall: { name: 'f', willContinue: false, partialArgs } };
  const decoder = gemini.decodeStream(contextFor(CHAT));
  const data = JSON.stringify({ candidates: [{ content: { parts: [part] }, finishReason: 'STOP' }] });
  const chunks = decoder.push({ name: undefined, data }).join('\n');
  expect('polluted' in {}).toBe(false);
  expect(chunks).toContain('polluted');
});
