import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../../src/openai/types.ts';
import { faultOf } from '../fault-of.ts';
import { encode } from './given.ts';

const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } } };
const WEATHER = { type: 'function', function: { name: 'weather', description: 'd', parameters: PARAMETERS } };
const TIME = { type: 'function', function: { name: 'time' } };
const DECLARED = { name: 'weather', description: 'd', parametersJsonSchema: PARAMETERS };
const allow = (mode: string, ...tools: unknown[]): JsonObject => ({ type: 'allowed_tools', allowed_tools: { mode, tools } });

describe('a tool', () => {
  test.each<[string, tool: JsonObject, declaration: JsonObject, dropped?: readonly string[]]>([
    ['with arguments', WEATHER, DECLARED],
    ['without arguments', TIME, { name: 'time' }],
    ['with an empty schema', { type: 'function', function: { name: 'f', parameters: {} } }, { name: 'f' }],
    ['whose name starts with a digit', { type: 'function', function: { name: '2d' } }, { name: '_2d_f86b4d30' }],
    [
      'with a lost constraint',
      { type: 'function', function: { name: 'f', parameters: { type: 'object', minProperties: 1 } } },
      { name: 'f', parametersJsonSchema: { type: 'object' } },
      ['tools[].function.parameters.minProperties'],
    ],
    [
      'that takes free text',
      { type: 'custom', custom: { name: 'patch', description: 'd', format: { type: 'text' } } },
      {
        name: 'patch',
        description: 'd',
        parametersJsonSchema: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
      },
    ],
    [
      'that takes text by a grammar',
      { type: 'custom', custom: { name: 'patch', format: { type: 'grammar', grammar: {} } } },
      { name: 'patch', parametersJsonSchema: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] } },
      ['tools[].custom.format'],
    ],
  ])('%s', (_, tool, declaration, dropped = []) => {
    const encoded = encode({ tools: [tool] });
    expect(encoded.body['tools']).toEqual([{ functionDeclarations: [declaration] }]);
    expect(encoded.body).not.toHaveProperty('toolConfig');
    expect(encoded.dropped).toEqual(dropped);
  });

  test('of a type only another provider has is refused', () => {
    expect(faultOf(() => encode({ tools: [TIME, { type: 'web_search' }] }))).toMatchObject({ status: 400, param: 'tools[1]' });
  });
});

describe('the tool choice', () => {
  const both = [{ name: 'time' }, DECLARED];

  test.each<[string, choice: unknown, config: JsonObject | undefined, declarations?: readonly JsonObject[]]>([
    ['absent', undefined, undefined],
    ['auto', 'auto', undefined],
    ['none', 'none', { mode: 'NONE' }],
    ['required', 'required', { mode: 'ANY' }],
    ['required, in others’ spelling', 'any', { mode: 'ANY' }],
    ['a function', { type: 'function', function: { name: 'time' } }, { mode: 'ANY', allowedFunctionNames: ['time'] }],
    ['a custom tool', { type: 'custom', custom: { name: 'time' } }, { mode: 'ANY', allowedFunctionNames: ['time'] }],
    ['auto among allowed tools', allow('auto', { type: 'function', function: { name: 'time' } }), undefined, [{ name: 'time' }]],
    [
      'required among allowed tools',
      allow('required', { type: 'function', name: 'time' }),
      { mode: 'ANY', allowedFunctionNames: ['time'] },
    ],
  ])('%s', (_, choice, config, declarations = both) => {
    const { body } = encode({ tools: [TIME, WEATHER], tool_choice: choice });
    expect(body['tools']).toEqual([{ functionDeclarations: declarations }]);
    expect(body['toolConfig']).toEqual(config === undefined ? undefined : { functionCallingConfig: config });
  });

  test('among no allowed tools leaves none', () => {
    expect(encode({ tools: [TIME], tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto' } } }).body).not.toHaveProperty(
      'tools',
    );
  });

  test.each([
    ['gemini-2.5-flash', 'auto', { functionCallingConfig: { mode: 'VALIDATED' } }, []],
    ['gemini-2.5-flash', 'required', { functionCallingConfig: { mode: 'ANY' } }, []],
    ['gemini-2.0-flash', 'auto', undefined, ['tools[].function.strict']],
  ])('of a strict tool holds %s to the schema with %s, or reports the loss', (model, choice, config, lost) => {
    const strict = { type: 'function', function: { name: 'f', strict: true, parameters: PARAMETERS } };
    const { body, dropped } = encode({ tools: [TIME, strict], tool_choice: choice }, { model });
    expect(body['toolConfig']).toEqual(config);
    expect(dropped).toEqual(lost);
  });

  test('of a strict tool cannot be held to the schema together with a response format', () => {
    const strict = { type: 'function', function: { name: 'f', strict: true, parameters: PARAMETERS } };
    expect(encode({ tools: [strict], response_format: { type: 'json_object' } }).dropped).toEqual(['tools[].function.strict']);
  });
});
