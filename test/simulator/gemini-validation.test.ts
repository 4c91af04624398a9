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

describe('the Gemini simulator refuses', () => {
  test.each<[string, body: JsonObject, complaint: string, call?: Partial<typeof CALL>]>([
    ['an unknown field', { contents, model: 'x' }, 'Unknown name "model"'],
    ['null', { contents: [user({ text: null })] }, 'null'],
    ['a list that is not one', { contents: {} }, 'not a list'],
    ['an object that is not one', { contents: ['Hi'] }, 'not an object'],
    ['no contents', { contents: [] }, 'contents is not specified'],
    ['an unknown role', { contents: [{ role: 'assistant', parts: [{ text: 'Hi' }] }] }, 'valid role'],
    ['no parts', { contents: [user()] }, 'must not be empty'],
    ['an empty text', { contents: [user({ text: '' })] }, 'text parameter'],
    ['an empty part', { contents: [user({ thought: true })] }, 'oneof'],
    ['media without a type', { contents: [user({ inlineData: { mimeType: 'png', data: 'AAAA' } })] }, 'MIME'],
    ['media that is not base64', { contents: [user({ inlineData: { mimeType: 'image/png', data: '!' } })] }, 'not valid'],
    ['a file it cannot fetch', { contents: [user({ fileData: { fileUri: 'https://example.com' } })] }, 'file uri'],
    ['instructions for Gemma', { contents, systemInstruction: { parts: [{ text: 'A' }] } }, 'not enabled', { model: 'gemma-3' }],
    ['a result without a call', { contents: [hi, user(answered)] }, 'function response turn'],
    ['a call without a user', { contents: [model(called), user(answered)] }, 'function call turn'],
    ['a call without a result', { contents: [hi, model(called), hi] }, 'number of function response parts'],
    [
      'a result with another name',
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
    ['a foreign signature', { contents: [hi, model({ ...called, thoughtSignature: 'x' }), user(answered)] }, 'Corrupted'],
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
    ['a limit of zero', configure({ maxOutputTokens: 0 }), 'positive'],
    ['images from a model without them', configure({ responseModalities: ['IMAGE'] }), 'modalities'],
    ['a tier on Vertex', { contents, serviceTier: 'flex' }, 'service_tier', { isVertex: true }],
    ['a schema for text', configure({ responseJsonSchema: {} }), 'response_mime_type'],
    [
      'a schema beyond the subset',
      configure({ responseMimeType: 'application/json', responseJsonSchema: { items: { const: 1 } } }),
      'Unknown name "const"',
    ],
    ['a schema that is not an object', configure({ responseMimeType: 'application/json', responseJsonSchema: 7 }), 'must be an object'],
    [
      'a reference with siblings',
      configure({ responseMimeType: 'application/json', responseJsonSchema: { $ref: '#', type: 'object' } }),
      '$ref',
    ],
    ['an enumeration of null', configure({ responseMimeType: 'application/json', responseJsonSchema: { enum: [null] } }), 'enum'],
    ['too many items', configure({ responseMimeType: 'application/json', responseJsonSchema: { maxItems: 1000 } }), 'invalid argument'],
    ['a level and a budget', configure({ thinkingConfig: { thinkingLevel: 'LOW', thinkingBudget: 1 } }), 'only set one'],
    ['a level below the minimum', configure({ thinkingConfig: { thinkingLevel: 'MINIMAL' } }), 'level'],
    ['a budget below the minimum', configure({ thinkingConfig: { thinkingBudget: 0 } }), 'budget', { model: 'gemini-2.5-pro' }],
    [
      'thoughts from a model that does not think',
      configure({ thinkingConfig: { thinkingBudget: 0, includeThoughts: true } }),
      'include_thoughts',
      { model: 'gemini-2.5-flash' },
    ],
    ['thinking on an old model', configure({ thinkingConfig: { thinkingBudget: 0 } }), 'not enabled', { model: 'gemini-2.0-flash' }],
    ['no function', declare(), 'at least one'],
    ['a choice among no functions', { contents, toolConfig: {} }, 'without function_declarations'],
    ['a name that starts with a digit', declare({ name: '1st' }), 'Invalid function name'],
    ['a duplicate name', declare({ name: 'f' }, { name: 'f' }), 'Duplicate'],
    ['an unknown mode', { ...declare({ name: 'f' }), toolConfig: { functionCallingConfig: { mode: 'SOME' } } }, 'mode'],
    [
      'allowed names without a forced call',
      { ...declare({ name: 'f' }), toolConfig: { functionCallingConfig: { allowedFunctionNames: ['f'] } } },
      'allowed_function_names',
    ],
    [
      'a search together with functions',
      { contents, tools: [{ googleSearch: {} }, { functionDeclarations: [{ name: 'f' }] }] },
      'unsupported',
    ],
    ['alternatives without log probabilities', { contents, generationConfig: { logprobs: 2 } }, 'response_logprobs'],
    ['too many alternatives', { contents, generationConfig: { responseLogprobs: true, logprobs: 21 } }, 'from 1 to 20'],
    ['log probabilities from a model without them', { contents, generationConfig: { responseLogprobs: true } }, 'Logprobs is not enabled'],
    [
      'a format together with functions',
      { ...declare({ name: 'f' }), generationConfig: { responseMimeType: 'application/json' } },
      'unsupported',
      { model: 'gemini-2.5-pro' },
    ],
  ])('%s', (_, body, complaint, call = {}) => {
    expect(complainAbout(body, { ...CALL, ...call })).toContain(complaint);
  });
});
