import { describe, expect, test } from 'bun:test';
import type { ChatRequest, JsonObject } from '../../../src/openai/types.ts';
import { CALL, CHAT, encode, NOVA, SONNET_45, SONNET_55, WEATHER } from './encoding.ts';

interface Loss {
  readonly model: string;
  readonly dropped: readonly string[];
}

describe('tools', () => {
  const history = [
    ...CHAT.messages,
    { role: 'assistant', content: 'Let me see.', tool_calls: [CALL, { ...CALL, id: 'call_2' }] },
    { role: 'tool', tool_call_id: 'call_1', content: '{"sky":"blue"}' },
    { role: 'tool', tool_call_id: 'call_2', content: '' },
    { role: 'user', content: 'And?' },
  ];

  test('calls and results become blocks, with all results in one turn', () => {
    const { body } = encode({ messages: history, tools: [WEATHER] });
    expect(body['messages']).toEqual([
      { role: 'user', content: [{ text: 'Hi' }] },
      {
        role: 'assistant',
        content: [
          { text: 'Let me see.' },
          { toolUse: { toolUseId: 'call_1', name: 'weather', input: { city: 'Bern' } } },
          { toolUse: { toolUseId: 'call_2', name: 'weather', input: { city: 'Bern' } } },
        ],
      },
      {
        role: 'user',
        content: [
          { toolResult: { toolUseId: 'call_1', content: [{ text: '{"sky":"blue"}' }] } },
          { toolResult: { toolUseId: 'call_2', content: [{ text: '(empty)' }] } },
          { text: 'And?' },
        ],
      },
    ]);
  });

  test.each<[string, Partial<ChatRequest>]>([
    ['without tools', {}],
    ['with forbidden tools', { tools: [WEATHER], tool_choice: 'none' }],
  ])('calls in a history %s are described as text, because they would be refused', (_, chat) => {
    const { body } = encode({ messages: history, ...chat });
    expect(body).not.toHaveProperty('toolConfig');
    expect(JSON.stringify(body)).toContain('[called the tool weather with');
    expect(JSON.stringify(body)).toContain('[the tool weather answered:]');
  });

  test('a union at the top of a schema is merged for Claude, which refuses it, and kept for others', () => {
    const parameters = { type: 'object', anyOf: [{ properties: { a: {} } }, { properties: { b: {} } }] };
    const tools = [{ type: 'function', function: { name: 'find', parameters } }];
    const claude = encode({ tools }, { model: SONNET_55 });
    expect(claude.body).toMatchObject({
      toolConfig: { tools: [{ toolSpec: { inputSchema: { json: { properties: { a: {}, b: {} } } } } }] },
    });
    expect(claude.dropped).toEqual(['tools[].function.parameters.anyOf']);
    const llama = encode({ tools }, { model: 'meta.llama4-scout-17b-instruct-v1:0' });
    expect(llama.body).toMatchObject({ toolConfig: { tools: [{ toolSpec: { inputSchema: { json: parameters } } }] } });
    expect(llama.dropped).toEqual([]);
  });

  test('Nova, which accepts nothing else at the top of a schema, gets only its fields', () => {
    const place = { type: 'object', properties: { city: { $ref: '#/$defs/name', description: 'Where' }, near: { $ref: '#/$defs/place' } } };
    const parameters = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      description: 'A search',
      properties: { at: { $ref: '#/$defs/place' }, names: { type: 'array', items: { $ref: '#/$defs/name' } }, other: { $ref: '#/x' } },
      required: ['at'],
      additionalProperties: false,
      $defs: { name: { type: 'string' }, place },
    };
    const name = { type: 'string' };
    const { body, dropped } = encode({ tools: [{ type: 'function', function: { name: 'find', parameters } }] }, { model: NOVA });
    const [tool] = (body['toolConfig'] as { tools: { toolSpec: { inputSchema: JsonObject } }[] }).tools;
    expect(tool?.toolSpec.inputSchema['json']).toEqual({
      type: 'object',
      properties: {
        at: { type: 'object', properties: { city: { type: 'string', description: 'Where' }, near: {} } },
        names: { type: 'array', items: name },
        other: {},
      },
      required: ['at'],
    });
    expect(dropped).toEqual([]);
  });

  test('definitions that would grow without end are cut off', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => {
        const next = { $ref: `#/$defs/d${index + 1}` };
        return [`d${index}`, { properties: { a: next, b: next } }];
      }),
    );
    const parameters = { type: 'object', properties: { a: { $ref: '#/$defs/d0' } }, $defs };
    const { body } = encode({ tools: [{ type: 'function', function: { name: 'find', parameters } }] }, { model: NOVA });
    expect(JSON.stringify(body).length).toBeLessThan(500_000);
  });

  test('call ids have nine letters and digits for Mistral’s models, and still match', () => {
    const { body } = encode({ messages: history, tools: [WEATHER] }, { model: 'mistral.mistral-large-2407-v1:0' });
    const ids = [...JSON.stringify(body).matchAll(/"toolUseId":"([^"]+)"/gu)].map((match) => match[1]);
    expect(ids).toHaveLength(4);
    expect(ids.slice(0, 2)).toEqual(ids.slice(2));
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9]{9}$/u);
  });

  test('call ids that are too long or have refused characters are replaced, and still match', () => {
    const ids = ['call:1.2', 'a'.repeat(65), 'a'.repeat(64)];
    const calls = { role: 'assistant', content: null, tool_calls: ids.map((id) => ({ ...CALL, id })) };
    const results = ids.map((id) => ({ role: 'tool', tool_call_id: id, content: 'Sun' }));
    const { body } = encode({ messages: [...CHAT.messages, calls, ...results], tools: [WEATHER] });
    const sent = [...JSON.stringify(body).matchAll(/"toolUseId":"([^"]+)"/gu)].map((match) => match[1]);
    expect(sent.slice(0, 3)).toEqual([
      expect.stringMatching(/^call_1_2_[0-9a-f]{8}$/u),
      expect.stringMatching(/^a{55}_[0-9a-f]{8}$/u),
      ids[2],
    ]);
    expect(sent.slice(3)).toEqual(sent.slice(0, 3));
  });

  test('definitions get an object schema and an accepted name', () => {
    const odd = { type: 'function', function: { name: 'files.read:all', description: ' ', strict: true } };
    const custom = { type: 'custom', custom: { name: 'patch', description: 'Applies a patch.' } };
    const untyped = { type: 'function', function: { name: 'untyped', parameters: { properties: {} } } };
    const { body } = encode({ tools: [odd, custom, untyped, WEATHER] });
    expect((body['toolConfig'] as JsonObject)['tools']).toEqual([
      {
        toolSpec: {
          name: expect.stringMatching(/^files_read_all_[0-9a-f]{8}$/u),
          inputSchema: { json: { type: 'object', properties: {} } },
        },
      },
      {
        toolSpec: {
          name: 'patch',
          description: 'Applies a patch.',
          inputSchema: { json: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] } },
        },
      },
      { toolSpec: { name: 'untyped', inputSchema: { json: { type: 'object', properties: {} } } } },
      { toolSpec: { name: 'weather', inputSchema: { json: WEATHER.function.parameters } } },
    ] as unknown[]);
  });

  test('input schemas are enforced if the model supports it', () => {
    const strict = { type: 'function', function: { ...WEATHER.function, strict: true } };
    const ranged = { name: 'dice', strict: true, parameters: { type: 'object', properties: { sides: { type: 'integer', minimum: 2 } } } };
    const { body } = encode({ tools: [strict, { type: 'function', function: ranged }] }, { model: SONNET_45 });
    const sides = { type: 'integer', description: '(minimum: 2)' };
    expect(body['toolConfig']).toMatchObject({
      tools: [
        { toolSpec: { strict: true, inputSchema: { json: { ...WEATHER.function.parameters, additionalProperties: false } } } },
        { toolSpec: { strict: true, inputSchema: { json: { type: 'object', properties: { sides }, additionalProperties: false } } } },
      ],
    });
  });

  test('options that cannot be enforced are reported', () => {
    const strict = { type: 'function', function: { ...WEATHER.function, strict: true } };
    const custom = { type: 'custom', custom: { name: 'patch', format: { type: 'grammar', grammar: {} } } };
    const free = { type: 'custom', custom: { name: 'say', format: { type: 'text' } } };
    expect(encode({ tools: [strict, custom] }).dropped).toEqual(['tools[].function.strict', 'tools[].custom.format']);
    expect(encode({ tools: [strict, free] }, { model: SONNET_45 }).dropped).toEqual([]);
    const open = { type: 'function', function: { name: 'open', strict: true, parameters: { additionalProperties: true } } };
    const { body, dropped } = encode({ tools: [open] }, { model: SONNET_45 });
    expect(dropped).toEqual(['tools[].function.strict']);
    expect(JSON.stringify(body['toolConfig'])).toContain('"additionalProperties":true');
    const tagged = { name: 'tag', strict: true, parameters: { type: 'object', properties: { tags: { type: 'object' } } } };
    expect(encode({ tools: [{ type: 'function', function: tagged }] }, { model: SONNET_45 }).dropped).toEqual(['tools[].function.strict']);
    const bare = { type: 'function', function: { name: 'now', strict: true } };
    expect(encode({ tools: [bare] }, { model: SONNET_45 }).dropped).toEqual([]);
  });

  test('share the limits of the grammar with the answer', () => {
    const nullable = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`p${index}`, { type: ['string', 'null'] }]));
    const parameters = { type: 'object', properties: nullable, required: Object.keys(nullable) };
    const twice = ['a', 'b'].map((name) => ({ type: 'function', function: { name, strict: true, parameters } }));
    const shared = encode({ tools: twice }, { model: SONNET_45 });
    expect(shared.dropped).toEqual(['tools[].function.strict']);
    expect(JSON.stringify(shared.body['toolConfig']).match(/"strict":true/gu)).toHaveLength(1);
    const answer = { type: 'json_schema', json_schema: { name: 'it', schema: parameters } };
    const after = encode({ tools: twice.slice(1), response_format: answer }, { model: SONNET_45 });
    expect(after.dropped).toEqual(['tools[].function.strict']);
  });

  const clock = { type: 'function', function: { name: 'clock' } };
  test.each<[string, unknown, unknown, Loss]>([
    ['auto', 'auto', undefined, { model: NOVA, dropped: [] }],
    ['required', 'required', { any: {} }, { model: NOVA, dropped: [] }],
    ['any, in some clients’ spelling', 'any', { any: {} }, { model: NOVA, dropped: [] }],
    ['a named tool', { type: 'function', function: { name: 'weather' } }, { tool: { name: 'weather' } }, { model: NOVA, dropped: [] }],
    [
      'required among allowed tools',
      { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [clock] } },
      { any: {} },
      { model: NOVA, dropped: [] },
    ],
    [
      'auto among allowed tools',
      { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [clock] } },
      undefined,
      { model: NOVA, dropped: [] },
    ],
    ['required, for a model that cannot be forced', 'required', undefined, { model: SONNET_55, dropped: ['tool_choice'] }],
  ])('are chosen by tool_choice: %s', (_, choice, expected, { model, dropped }) => {
    const encoded = encode({ tools: [WEATHER, clock], tool_choice: choice }, { model });
    expect((encoded.body['toolConfig'] as JsonObject)['toolChoice']).toEqual(expected);
    expect(encoded.dropped).toEqual(dropped);
  });

  test('are offered only if allowed', () => {
    const { body } = encode({
      tools: [WEATHER, clock],
      tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [clock] } },
    });
    expect(body['toolConfig']).toMatchObject({ tools: [{ toolSpec: { name: 'clock' } }] });
  });

  test('cannot be limited to one call at a time, which is reported', () => {
    expect(encode({ tools: [WEATHER], parallel_tool_calls: false }).dropped).toEqual(['parallel_tool_calls']);
    expect(encode({ tools: [WEATHER], parallel_tool_calls: true }).dropped).toEqual([]);
  });
});
