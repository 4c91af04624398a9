import { GatewayError } from '../errors.ts';
import {
  arrayOf,
  boolean,
  checkFields,
  checkLength,
  decimal,
  describeType,
  fields,
  integer,
  invalid,
  missing,
  object,
  oneOf,
  outOfRange,
  stringOr,
  text,
  wrongType,
  type Check,
} from './check.ts';
import { checkMessages } from './check-messages.ts';
import { nestFlatTools } from './flat-tools.ts';
import { isObject, type ChatRequest, type JsonObject } from './types.ts';

export const TOKENS_MAX = 2 ** 31 - 1;
const TOOLS_MAX = 128;
const STOPS_MAX = 4;
const CHOICES_MAX = 128;
const METADATA_MAX = 16;
const METADATA_NAME_MAX = 64;
const METADATA_VALUE_MAX = 512;
const NAME_SHOWN_MAX = 100;
const SEED_MIN = -(2n ** 63n);
const SEED_MAX = 2n ** 63n - 1n;

/** Validates a parsed body against the OpenAI dialect and types it. Unknown fields stay as they are. */
export function checkChatRequest(given: unknown): ChatRequest {
  if (!isObject(given)) throw new GatewayError('invalid_type', `The body must be a JSON object, not ${describeType(given)}.`);
  const body = nestFlatTools(given);
  checkModel(body);
  if (body['messages'] === undefined || body['messages'] === null) throw missing('messages', hintForResponsesBody(body));
  checkMessages(body['messages']);
  checkFields(body, FIELDS, '');
  checkCombinations(body);
  return normaliseFields(body);
}

const functionName: Check = (value, param) => {
  text()(value, param);
  if (!/^[A-Za-z0-9_.:-]{1,128}$/.test(value as string))
    throw invalid(param, `'${param}' must be 1 to 128 letters, digits, underscores, hyphens, dots and colons.`);
};
const functionTool = fields({ name: functionName, description: text(), parameters: object, strict: boolean }, ['name']);
const grammar = fields({ syntax: text(), definition: text() });
const customTool = fields({ name: functionName, description: text(), format: fields({ type: text(), grammar }) }, ['name']);

const tool = fields({ type: text(), function: functionTool, custom: customTool }, ['type'], ['function', 'custom']);

const CHOICE_TYPES = ['function', 'custom', 'allowed_tools'];
const toolChoice = stringOr(
  'an object',
  oneOf('none', 'auto', 'required', 'any'),
  fields(
    {
      type: oneOf(...CHOICE_TYPES),
      function: fields({ name: functionName }, ['name']),
      custom: fields({ name: functionName }, ['name']),
      allowed_tools: fields({ mode: oneOf('auto', 'required'), tools: arrayOf(object, { max: TOOLS_MAX }) }, ['mode', 'tools']),
    },
    ['type'],
    CHOICE_TYPES,
  ),
);

const responseFormat = fields(
  {
    type: oneOf('text', 'json_object', 'json_schema'),
    json_schema: fields({ name: text({ lengthMax: 64 }), description: text(), schema: object, strict: boolean }, ['name']),
  },
  ['type'],
  ['json_schema'],
);

const logitBias: Check = (value, param) => {
  if (!isObject(value)) throw wrongType(value, param, 'an object of token ids');
  // Only token ids are named in the error: any other text is the client's own.
  for (const token in value) decimal(-100, 100)(value[token], /^\d{1,9}$/.test(token) ? `${param}.${token}` : param);
};

const metadata: Check = (value, param) => {
  if (!isObject(value)) throw wrongType(value, param, 'an object of strings');
  if (Object.keys(value).length > METADATA_MAX) throw invalid(param, `'${param}' may have at most ${METADATA_MAX} entries.`);
  for (const [name, entry] of Object.entries(value)) {
    if (typeof entry !== 'string') throw wrongType(entry, param, 'a string', `a value of '${param}'`);
    checkLength(name, METADATA_NAME_MAX, param, `A name in '${param}'`);
    checkLength(entry, METADATA_VALUE_MAX, param, `A value of '${param}'`);
  }
};

/** The known fields. All others are passed on untouched. */
const FIELDS: ReadonlyMap<string, Check> = new Map<string, Check>(
  Object.entries({
    max_completion_tokens: integer(1, TOKENS_MAX),
    max_tokens: integer(1, TOKENS_MAX),
    temperature: decimal(0, 2),
    top_p: decimal(0, 1),
    n: integer(1, CHOICES_MAX),
    stream: boolean,
    stream_options: fields({ include_usage: boolean, include_obfuscation: boolean }),
    stop: stringOr('an array', text(), arrayOf(text(), { min: 1, max: STOPS_MAX })),
    presence_penalty: decimal(-2, 2),
    frequency_penalty: decimal(-2, 2),
    logit_bias: logitBias,
    logprobs: boolean,
    top_logprobs: integer(0, 20),
    seed: integer(SEED_MIN, SEED_MAX),
    user: text(),
    safety_identifier: text({ lengthMax: 128 }),
    prompt_cache_key: text(),
    prompt_cache_options: object,
    prompt_cache_retention: text(),
    metadata,
    store: boolean,
    service_tier: oneOf('auto', 'default', 'flex', 'scale', 'priority', 'fast', 'on_demand', 'performance', 'standard_only'),
    reasoning_effort: oneOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'default'),
    verbosity: oneOf('low', 'medium', 'high'),
    modalities: arrayOf(oneOf('text', 'audio', 'image'), { min: 1, max: 3 }),
    audio: fields({ format: text() }),
    prediction: object,
    tools: arrayOf(tool, { max: TOOLS_MAX }),
    tool_choice: toolChoice,
    parallel_tool_calls: boolean,
    response_format: responseFormat,
    web_search_options: object,
    moderation: object,
    functions: arrayOf(functionTool, { min: 1, max: TOOLS_MAX }),
    function_call: stringOr('an object', oneOf('none', 'auto'), fields({ name: functionName }, ['name'])),
  }),
);

function checkModel(body: JsonObject): void {
  const { model } = body;
  if (model === undefined || model === null) throw missing('model', ' Name a model from GET /v1/models.');
  if (typeof model !== 'string') throw wrongType(model, 'model', 'a string');
  if (model === '') throw invalid('model', "'model' is empty. Name a model from GET /v1/models.");
}

/** Returns a hint for bodies of the Responses API, which some editors post here. Without it, the failure is hard to understand. */
function hintForResponsesBody(body: JsonObject): string {
  return body['input'] === undefined
    ? ''
    : " The body has 'input', which belongs to the Responses API: send the conversation as 'messages'.";
}

function checkCombinations(body: JsonObject): void {
  if (isSet(body, 'stream_options') && body['stream'] !== true) {
    throw invalid('stream_options', "'stream_options' is only allowed when 'stream' is true.");
  }
  if (isSet(body, 'top_logprobs') && body['logprobs'] !== true)
    throw invalid('top_logprobs', "'top_logprobs' needs 'logprobs' to be true.");
  if (isSet(body, 'max_tokens') && isSet(body, 'max_completion_tokens') && body['max_tokens'] !== body['max_completion_tokens']) {
    throw invalid('max_tokens', "'max_tokens' and 'max_completion_tokens' differ; send only 'max_completion_tokens'.");
  }
  const { tools, tool_choice: choice } = body;
  if (isSet(body, 'tool_choice') && !isSet(body, 'tools') && choice !== 'none') {
    throw invalid('tool_choice', "'tool_choice' is only allowed when 'tools' are given.");
  }
  if (Array.isArray(tools) && tools.length === 0 && isSet(body, 'tool_choice') && choice !== 'none' && choice !== 'auto') {
    throw new GatewayError('empty_array', "'tools' is empty, but 'tool_choice' requires a tool.", { param: 'tools' });
  }
}

function isSet(body: JsonObject, name: string): boolean {
  return body[name] !== undefined && body[name] !== null;
}

/**
 * Refuses a seed beyond 64 bits, or one that was rounded. The largest valid seed and the next integer parse to the same number, so only
 * the digits tell. They are kept of plain integers only.
 */
export function refuseWideSeed({ seed }: ChatRequest): void {
  if (seed === undefined || Number.isSafeInteger(seed)) return;
  if (typeof seed === 'number')
    throw invalid('seed', "'seed' cannot be read exactly: write it as a plain integer, without a decimal point or an exponent.");
  const exact = BigInt(JSON.stringify(seed));
  if (exact < SEED_MIN) throw outOfRange('integer_below_min_value', exact, 'seed', `at least ${SEED_MIN}`);
  if (exact > SEED_MAX) throw outOfRange('integer_above_max_value', exact, 'seed', `at most ${SEED_MAX}`);
}

const TOO_LARGE = 'has a number that is too large: numbers must be below 1.8e308.';

/** Refuses numbers that parse to infinity, which would be sent on as null. Only field names of the dialect are stored with the error. */
export function refuseInfinite(body: ChatRequest): void {
  for (const [name, value] of Object.entries(body)) {
    if (!hasInfinite(value)) continue;
    const details = name === 'messages' || FIELDS.has(name) ? { param: name } : { storableMessage: `The body ${TOO_LARGE}` };
    throw new GatewayError('invalid_value', `'${name.slice(0, NAME_SHOWN_MAX)}' ${TOO_LARGE}`, details);
  }
}

function hasInfinite(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasInfinite);
}

/**
 * Removes null fields, and what is said about tools where there are none: null means "not set" to us and `none` says nothing then, but
 * many hosts refuse both. The body was just parsed and is not shared, so it is changed in place. A choice is replaced in a copy: where
 * a value is still the client's, the client's own text is sent.
 */
export function normaliseFields(body: JsonObject): ChatRequest {
  for (const name in body) if (body[name] === null && FIELDS.has(name)) delete body[name];
  const { tools = [] } = body;
  if (Array.isArray(tools) && tools.length === 0) for (const name of ['tools', 'tool_choice', 'parallel_tool_calls']) delete body[name];
  if (body['max_tokens'] !== undefined && body['max_completion_tokens'] !== undefined) delete body['max_tokens'];
  // Mistral's word, which other hosts refuse.
  return (body['tool_choice'] === 'any' ? { ...body, tool_choice: 'required' } : body) as ChatRequest;
}

/** Returns the names of the optional fields that are checked. The API reference must document each. */
export function checkedFields(): string[] {
  return [...FIELDS.keys()];
}
