import { describe, expect, test } from 'bun:test';
import { GatewayError } from '../../src/errors.ts';
import { encodeSigned } from '../../src/gateway/ask.ts';
import { checkChatRequest, normaliseFields } from '../../src/openai/check-request.ts';
import { nestFlatTools } from '../../src/openai/flat-tools.ts';
import { parseExact } from '../../src/openai/parse-exact.ts';
import { isObject, type JsonObject } from '../../src/openai/types.ts';
import { HOSTS } from '../../src/providers/hosts.ts';
import type { DialectName } from '../../src/providers/dialect-names.ts';
import { DIALECTS } from '../../src/providers/dialects.ts';
import { ProviderFault, type Dialect, type Target } from '../../src/providers/dialect.ts';

/** Values that a client may put anywhere. Those with a `toString` and the wide integer have no text: `String` throws. */
const ODD = ['9007199254740993', '{"toString":1,"valueOf":2}', '[9007199254740993]', 'null', '-1.5', 'true', '""', '"__proto__"', '[]'];

const PNG = 'data:image/png;base64,iVBORw0KGgo=';
const SCHEMA = {
  type: 'object',
  properties: { day: { type: 'string', format: 'date' }, other: { anyOf: [{ $ref: '#/$defs/it' }, { type: ['integer', 'null'] }] } },
  required: ['day'],
  additionalProperties: false,
  $defs: { it: { type: 'object', properties: { kind: { enum: ['a'], description: 'which' } } } },
};
const REQUEST: JsonObject = {
  model: 'm',
  messages: [
    { role: 'system', content: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } }] },
    { role: 'user', content: [{ type: 'image_url', image_url: { url: PNG, detail: 'low' } }], name: 'me' },
    { role: 'assistant', content: null, tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: 'c', content: 'fine', name: 'f' },
    { role: 'user', content: [{ type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } }] },
  ],
  tools: [
    { type: 'function', function: { name: 'f', description: 'does', strict: true, parameters: SCHEMA } },
    { type: 'custom', custom: { name: 'g', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'x' } } } },
  ],
  tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'f' } }] } },
  response_format: { type: 'json_schema', json_schema: { name: 'it', strict: true, schema: SCHEMA } },
  reasoning: { effort: 'high', max_tokens: 2000 },
  thinking: { type: 'enabled', budget_tokens: 1024 },
  metadata: { user_id: 'u' },
  stop: ['END'],
  modalities: ['text'],
  service_tier: 'auto',
  web_search_options: { search_context_size: 'low' },
};

describe('whatever value a request has', () => {
  test.each<[DialectName, string]>([
    ['openai', 'gpt-x'],
    ['azure', 'gpt-x'],
    ['anthropic', 'claude-opus-5'],
    ['anthropic-vertex', 'claude-sonnet-4-5'],
    ['gemini', 'gemini-3.6-flash'],
    ['gemini-vertex', 'gemini-2.5-pro'],
    ['bedrock', 'anthropic.claude-sonnet-4-5-v1:0'],
    ['bedrock', 'amazon.nova-2-lite-v1:0'],
    ['sandbox', 'echo'],
  ])('%s encodes it for %s or refuses it', (dialect, model) => {
    const tried = placesIn(REQUEST).flatMap((place) => ODD.map((odd) => ({ place, odd })));
    expect(tried.filter((attempt) => isMistaken(DIALECTS[dialect], model, attempt))).toEqual([]);
  });
});

test('a mistake of ours in encoding a request does not count against the provider', () => {
  const failing = {
    ...DIALECTS.openai,
    encodeRequest: () => {
      throw new TypeError('a bug');
    },
  };
  const encode = (): unknown => encodeSigned(failing, { model: 'm', messages: [] }, targetFor('m'));
  expect(encode).toThrow(expect.objectContaining({ errorName: 'internal_error' }));
});

type Place = readonly string[];

/** Lists where a request has values, at any depth. */
function placesIn(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return [[]];
  const inner = Object.entries(value).flatMap(([name, one]) => placesIn(one).map((place) => [name, ...place]));
  return [[], ...inner];
}

/** Whether a request that passes the checks and has this value at this place fails without being refused. */
function isMistaken(dialect: Dialect, model: string, { place, odd }: { readonly place: Place; readonly odd: string }): boolean {
  const text = JSON.stringify(put(REQUEST, place, '<odd>')).replaceAll('"<odd>"', odd);
  try {
    checkChatRequest(JSON.parse(text));
    dialect.encodeRequest(normaliseFields(nestFlatTools(parseExact(text) as JsonObject)), targetFor(model));
    return false;
  } catch (error) {
    return !(error instanceof GatewayError || error instanceof ProviderFault);
  }
}

function put(value: unknown, [name, ...rest]: Place, odd: string): unknown {
  if (name === undefined) return odd;
  if (Array.isArray(value)) return value.map((one, index) => (String(index) === name ? put(one, rest, odd) : one));
  return isObject(value) ? { ...value, [name]: put(value[name], rest, odd) } : value;
}

function targetFor(model: string): Target {
  return {
    baseUrl: 'https://a.example',
    apiKey: 'k',
    model,
    outputTokensMax: 9000,
    host: HOSTS['mistral'],
    apiVersion: '2024-06-01',
    maySearch: true,
  };
}
