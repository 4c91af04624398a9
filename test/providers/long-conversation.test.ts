import { describe, expect, test } from 'bun:test';
import { JsonLayout } from '../../src/http/json-layout.ts';
import { RequestText } from '../../src/openai/request-text.ts';
import type { ChatRequest, JsonObject } from '../../src/openai/types.ts';
import { HOSTS } from '../../src/providers/hosts.ts';
import { openai } from '../../src/providers/openai.ts';
import type { Target } from '../../src/providers/dialect.ts';

const CALL = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };

/**
 * Returns the text of the messages and the body sent. Checks that the body equals a freshly serialised one, and that
 * the caller's value is unmodified.
 */
function encodeText(id: string, messages: readonly JsonObject[]): { readonly text: string; readonly body: string } {
  const chat: ChatRequest = { model: 'm', messages };
  const text = JSON.stringify(chat, undefined, 1);
  const value = JSON.parse(text) as ChatRequest;
  const source = RequestText.of(text, new JsonLayout(text), value);
  const target: Target = { baseUrl: 'http://a', apiKey: undefined, model: 'theirs', outputTokensMax: undefined, host: HOSTS[id] };
  const { body } = openai.encodeRequest(value, { ...target, source });
  expect(JSON.parse(body)).toEqual(JSON.parse(openai.encodeRequest(value, target).body));
  expect(JSON.stringify(value)).toBe(JSON.stringify(chat));
  return { text: text.slice(text.indexOf('['), text.lastIndexOf(']') + 1), body };
}

describe('a long conversation', () => {
  const said = [
    { role: 'system', content: 'Be "brief". '.repeat(400) },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Hi' },
        { type: 'image_url', image_url: { url: 'https://a/b.png' } },
      ],
    },
    { role: 'assistant', content: null, tool_calls: [CALL] },
    { role: 'tool', tool_call_id: 'call_1', content: 'done' },
    { role: 'user', content: 'Go on' },
  ];

  test.each(['openai', 'groq', 'xai', 'together', 'openrouter', 'ollama', 'moonshot'])('is sent to %s in its original text', (id) => {
    const { text, body } = encodeText(id, said);
    expect(body.includes(text)).toBe(true);
  });

  test.each([
    ['an extension in a message', 'openai', { role: 'assistant', content: 'Hm', reasoning_content: 'So' }],
    ['an extension in a part', 'openai', { role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }] }],
    ['an extension in a call', 'openai', { role: 'assistant', content: null, tool_calls: [{ ...CALL, index: 0 }] }],
    ['a null', 'groq', { role: 'user', content: 'Hi', name: null }],
    ['an answer to continue', 'moonshot', { role: 'assistant', content: 'Once' }],
  ])('is serialised again if there is %s', (_, id, last) => {
    const { text, body } = encodeText(id, [...said, last]);
    expect(body.includes(text)).toBe(false);
  });

  test.each(Object.keys(HOSTS))('says the same to %s as when serialised again', (id) => {
    encodeText(id, said);
  });
});
