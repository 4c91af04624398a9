import { describe, expect, test } from 'bun:test';
import { complainAbout } from './gemini-validation.ts';
import type { JsonObject } from './wire.ts';

const CALL = { model: 'gemini-3.1-pro-preview', isVertex: false, signatures: new Set(['sig']), continuationTokens: new Set<string>() };
const user = (...parts: unknown[]): JsonObject => ({ role: 'user', parts });
const model = (...parts: unknown[]): JsonObject => ({ role: 'model', parts });
const hi = user({ text: 'Hi' });
const called = { functionCall: { name: 'f', args: {} }, thoughtSignature: 'sig' };
const answered = { functionResponse: { name: 'f', response: { output: 'ok' } } };
const contents = [hi];
const declare = (...declarations: unknown[]): JsonObject => ({ contents, tools: [{ functionDeclarations: declarations }] });
const configure = (generationConfig: JsonObject): JsonObject => ({ contents, generationConfig });

describe('the simulator of Gemini refuses', () => {
  test.each<[string, body: JsonObject, complaint: string, call?: Partial<typeof CALL>]>([
    ['a field that it does not know', { contents, model: 'x' }, 'Unknown name "model"'],
    ['null', { contents: [user({ text: null })] }, 'null'],
    ['a list that is none', { contents: {} }, 'not a list'],
    ['an object that is none', { contents: ['Hi'] }, 'not an object'],
    ['no contents', { contents: [] }, 'contents is not specified'],
    ['a role that it does not know', { contents: [{ role: 'assistant', parts: [{ text: 'Hi' }] }] }, 'valid role'],
    ['no parts', { contents: [user()] }, 'must not be empty'],
    ['an empty text', { contents: [user({ text: '' })] }, 'text parameter'],
    ['a part with nothing in it', { contents: [user({ thought: true })] }, 'oneof'],
    ['media without a type', { contents: [user({ inlineData: { mimeType: 'png', data: 'AAAA' } })] }, 'MIME'],
    ['media that is no base64', { contents: [user({ inlineData: { mimeType: 'image/png', data: '!' } })] }, 'not valid'],
    ['a file that it cannot fetch', { contents: [user({ fileData: { fileUri: 'https://example.com' } })] }, 'file uri'],
    ['instructions for Gemma', { contents, systemInstruction: { parts: [{ text: 'A' }] } }, 'not enabled', { model: 'gemma-3' }],
    ['a result without a call', { contents: [hi, user(answered)] }, 'function response turn'],
    ['a call without a user', { contents: [model(called), user(answered)] }, 'function call turn'],
    ['a call without a result', { contents: [hi, model(called), hi] }, 'number of function response parts'],
    [
      'a result of another name',
      { contents: [hi, model(called), user({ functionResponse: { name: 'g', response: {} } })] },
      'another name',
    ],
    [
      'a result with a reference',
      { contents: [hi, model(called), user({ functionResponse: { name: 'f', response: { a: [{ $ref: '#' }] } } })] },
      'functionResponse',
    ],
    ['a call without arguments', { contents: [hi, model({ functionCall: { name: 'f' } }), user(answered)] }, 'args'],
    [
      'a call without a signature',
      { contents: [hi, model({ functionCall: called.functionCall }), user(answered)] },
      'missing a thought_signature',
    ],
    ['a signature that is not its own', { contents: [hi, model({ ...called, thoughtSignature: 'x' }), user(answered)] }, 'Corrupted'],
    [
      'ids on Vertex',
      {
        contents: [
          hi,
          model({ ...called, functionCall: { ...called.functionCall, id: '1' } }),
          user({ functionResponse: { ...answered.functionResponse, id: '1' } }),
        ],
      },
      'Unknown name "id"',
      { isVertex: true },
    ],
    ['a penalty', configure({ presencePenalty: 1 }), 'Penalty'],
    ['a long seed', configure({ seed: 2 ** 31 }), 'seed'],
    ['an empty stop sequence', configure({ stopSequences: [''] }), 'stop'],
    ['a limit of nothing', configure({ maxOutputTokens: 0 }), 'positive'],
    ['images of a model without them', configure({ responseModalities: ['IMAGE'] }), 'modalities'],
    ['a tier on Vertex', { contents, serviceTier: 'flex' }, 'service_tier', { isVertex: true }],
    ['a schema for text', configure({ responseJsonSchema: {} }), 'response_mime_type'],
    [
      'a schema beyond the subset',
      configure({ responseMimeType: 'application/json', responseJsonSchema: { items: { const: 1 } } }),
      'Unknown name "const"',
    ],
    ['a schema that is none', configure({ responseMimeType: 'application/json', responseJsonSchema: 7 }), 'must be an object'],
    [
      'a reference with neighbours',
      configure({ responseMimeType: 'application/json', responseJsonSchema: { $ref: '#', type: 'object' } }),
      '$ref',
    ],
    ['an enumeration of null', configure({ responseMimeType: 'application/json', responseJsonSchema: { enum: [null] } }), 'enum'],
    ['too many items', configure({ responseMimeType: 'application/json', responseJsonSchema: { maxItems: 1000 } }), 'invalid argument'],
    ['a level and a budget', configure({ thinkingConfig: { thinkingLevel: 'LOW', thinkingBudget: 1 } }), 'only set one'],
    ['a level that is too low', configure({ thinkingConfig: { thinkingLevel: 'MINIMAL' } }), 'level'],
    ['a budget that is too small', configure({ thinkingConfig: { thinkingBudget: 0 } }), 'budget', { model: 'gemini-2.5-pro' }],
    [
      'thoughts of a model that does not think',
      configure({ thinkingConfig: { thinkingBudget: 0, includeThoughts: true } }),
      'include_thoughts',
      { model: 'gemini-2.5-flash' },
    ],
    ['thinking of an old model', configure({ thinkingConfig: { thinkingBudget: 0 } }), 'not enabled', { model: 'gemini-2.0-flash' }],
    ['no function', declare(), 'at least one'],
    ['a choice among no functions', { contents, toolConfig: {} }, 'without function_declarations'],
    ['a name that begins with a digit', declare({ name: '1st' }), 'Invalid function name'],
    ['one name twice', declare({ name: 'f' }, { name: 'f' }), 'Duplicate'],
    ['a mode that it does not know', { ...declare({ name: 'f' }), toolConfig: { functionCallingConfig: { mode: 'SOME' } } }, 'mode'],
    [
      'names without force',
      { ...declare({ name: 'f' }), toolConfig: { functionCallingConfig: { allowedFunctionNames: ['f'] } } },
      'allowed_function_names',
    ],
    ['a search beside functions', { contents, tools: [{ googleSearch: {} }, { functionDeclarations: [{ name: 'f' }] }] }, 'unsupported'],
    ['alternatives to tokens that are not asked for', { contents, generationConfig: { logprobs: 2 } }, 'response_logprobs'],
    ['too many alternatives', { contents, generationConfig: { responseLogprobs: true, logprobs: 21 } }, 'from 1 to 20'],
    ['tokens of a model that does not tell them', { contents, generationConfig: { responseLogprobs: true } }, 'Logprobs is not enabled'],
    [
      'a format beside functions',
      { ...declare({ name: 'f' }), generationConfig: { responseMimeType: 'application/json' } },
      'unsupported',
      { model: 'gemini-2.5-pro' },
    ],
  ])('%s', (_, body, complaint, call = {}) => {
    expect(complainAbout(body, { ...CALL, ...call })).toContain(complaint);
  });
});
