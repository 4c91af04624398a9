import { expect, test } from 'bun:test';
import { checkChatRequest } from '../../src/openai/check-request.ts';
import { nestFlatTools } from '../../src/openai/flat-tools.ts';
import { OpenAiStage } from '../clients/openai-stage.ts';

const messages = [{ role: 'user', content: 'Hi' }];
const parameters = { type: 'object', properties: {} };
const FLAT = {
  tools: [
    { type: 'function', name: 'f', description: 'd', parameters, strict: false },
    { type: 'custom', name: 'patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' } },
    { type: 'custom', name: 'say', format: { type: 'text' }, custom: null },
  ],
  tool_choice: { type: 'function', name: 'f' },
};
const NESTED = {
  tools: [
    { type: 'function', function: { name: 'f', description: 'd', parameters, strict: false } },
    { type: 'custom', custom: { name: 'patch', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "a"' } } } },
    { type: 'custom', custom: { name: 'say', format: { type: 'text' } } },
  ],
  tool_choice: { type: 'function', function: { name: 'f' } },
};

test('tools in the form of the Responses API are put into that of this dialect, in a copy', () => {
  const given = { model: 'm', messages, ...FLAT };
  const checked: unknown = checkChatRequest(given);
  expect(checked).toEqual({ model: 'm', messages, ...NESTED });
  expect(given).toMatchObject(FLAT);
});

test.each([{ messages }, { ...NESTED }, { tools: [{ type: 'web_search', name: 'w' }, 7, null] }, { tools: 'f' }])(
  '%j stays as it is',
  (body) => {
    expect(nestFlatTools(body)).toBe(body);
  },
);

const stage = new OpenAiStage();

// A long request is sent as it was written, and one with long numbers is parsed again.
test.each([{}, { padding: 'a'.repeat(5000) }, { seed: '9007199254740993' }])(
  'reach the provider in its form, also with %j',
  async (more) => {
    const body = JSON.stringify({ model: 'mock/gpt', messages, ...FLAT, ...more }).replace(/"(\d{16})"/u, '$1');
    const headers = { authorization: `Bearer ${stage.key.secret}`, 'content-type': 'application/json' };
    const response = await fetch(`${stage.gate.baseUrl}/chat/completions`, { method: 'POST', headers, body });
    expect({ status: response.status, text: await response.text() }).toMatchObject({ status: 200 });
    expect(stage.simulator.requests[0]?.body).toMatchObject(NESTED);
  },
);
