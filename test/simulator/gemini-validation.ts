import { complainAboutSchema } from './gemini-schema.ts';
import type { JsonObject } from './wire.ts';

/** What the strict simulator knows about a request besides its body. */
export interface GeminiCall {
  readonly model: string;
  readonly isVertex: boolean;
  /** The signatures it has handed out. */
  readonly signatures: ReadonlySet<string>;
  readonly continuationTokens: ReadonlySet<string>;
}

const SKIPPED_SIGNATURE = 'skip_thought_signature_validator';
const INT32_MAX = 2 ** 31 - 1;

/** Returns Google's answer to an invalid request, in its own words. Undefined for a valid request. */
export function complainAbout(body: JsonObject, call: GeminiCall): string | undefined {
  const checks = [checkShape, checkTurns, checkCalls, checkGenerationConfig, checkThinking, checkTools, checkContinuation];
  for (const check of checks) {
    const complaint = check(body, call);
    if (complaint !== undefined) return complaint;
  }
  return undefined;
}

/** The fields of every protocol message a chat request can need. Anything not listed is refused. */
const SHAPES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  request: {
    contents: 'content[]',
    systemInstruction: 'content',
    tools: 'tool[]',
    toolConfig: 'toolConfig',
    generationConfig: 'generationConfig',
    safetySettings: 'safetySetting[]',
    serviceTier: '',
    cachedContent: '',
    continuationToken: '',
  },
  content: { role: '', parts: 'part[]' },
  part: {
    text: '',
    thought: '',
    thoughtSignature: '',
    inlineData: 'blob',
    fileData: 'fileData',
    functionCall: 'functionCall',
    functionResponse: 'functionResponse',
  },
  blob: { mimeType: '', data: '' },
  fileData: { mimeType: '', fileUri: '' },
  functionCall: { id: '', name: '', args: '' },
  functionResponse: { id: '', name: '', response: '', parts: 'part[]' },
  tool: { functionDeclarations: 'functionDeclaration[]', googleSearch: 'googleSearch' },
  googleSearch: {},
  functionDeclaration: { name: '', description: '', parametersJsonSchema: '' },
  toolConfig: { functionCallingConfig: 'functionCallingConfig' },
  functionCallingConfig: { mode: '', allowedFunctionNames: '' },
  safetySetting: { category: '', threshold: '' },
  generationConfig: {
    maxOutputTokens: '',
    temperature: '',
    topP: '',
    topK: '',
    presencePenalty: '',
    frequencyPenalty: '',
    stopSequences: '',
    seed: '',
    candidateCount: '',
    responseLogprobs: '',
    logprobs: '',
    responseMimeType: '',
    responseJsonSchema: '',
    responseModalities: '',
    thinkingConfig: 'thinkingConfig',
  },
  thinkingConfig: { thinkingLevel: '', thinkingBudget: '', includeThoughts: '' },
};

function checkShape(body: JsonObject): string | undefined {
  return complainAboutShape(body, 'request', '');
}

function complainAboutShape(value: unknown, shape: string, path: string): string | undefined {
  if (shape === '') return value === null ? `Invalid value at '${path}': null.` : undefined;
  if (shape.endsWith('[]')) {
    if (!Array.isArray(value)) return `Invalid value at '${path}': not a list.`;
    return firstOf(value.map((item, index) => complainAboutShape(item, shape.slice(0, -2), `${path}[${index}]`)));
  }
  if (!isObject(value)) return `Invalid value at '${path}': not an object.`;
  const fields = SHAPES[shape] ?? {};
  return firstOf(
    Object.entries(value).map(([name, child]) => {
      const inner = fields[name];
      if (inner === undefined) return `Invalid JSON payload received. Unknown name "${name}" at '${path}': Cannot find field.`;
      return complainAboutShape(child, inner, path === '' ? name : `${path}.${name}`);
    }),
  );
}

const DATA_FIELDS = ['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse'];

function checkTurns({ contents, systemInstruction }: JsonObject, { model }: GeminiCall): string | undefined {
  const turns = asList(contents);
  if (turns.length === 0) return 'GenerateContentRequest.contents: contents is not specified';
  if (systemInstruction !== undefined && model.startsWith('gemma')) return 'Developer instruction is not enabled for this model';
  return firstOf([
    ...turns.map(({ role }) => (role === 'user' || role === 'model' ? undefined : 'Please use a valid role: user, model.')),
    ...[...turns, ...(isObject(systemInstruction) ? [systemInstruction] : [])].flatMap(({ parts }) => {
      const list = asList(parts);
      return list.length === 0 ? ['GenerateContentRequest.contents.parts must not be empty.'] : list.map(complainAboutPart);
    }),
  ]);
}

function complainAboutPart(part: JsonObject): string | undefined {
  const data = DATA_FIELDS.filter((name) => name in part);
  if (data.length !== 1) return "contents.parts.data: required oneof field 'data' must have one initialized field";
  if (part['text'] === '') return 'Unable to submit request because it must have a text parameter.';
  const { inlineData: blob, fileData: file, functionResponse: result } = part;
  if (isObject(blob) && !/^[a-z]+\/[\w.+-]+$/u.test(String(blob['mimeType']))) return `Unsupported MIME type: ${String(blob['mimeType'])}`;
  if (isObject(blob) && (blob['mimeType'] === 'image/jpg' || !/^[A-Za-z0-9+/]+=*$/u.test(String(blob['data']))))
    return 'Provided image is not valid.';
  if (isObject(file) && !String(file['fileUri']).includes('youtu')) return 'Invalid or unsupported file uri.';
  if (isObject(result) && (!isObject(result['response']) || containsReference(result['response'])))
    return 'Invalid value at functionResponse.response.';
  return undefined;
}

function containsReference(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(containsReference);
  return isObject(value) && ('$ref' in value || Object.values(value).some(containsReference));
}

/** Calls and results must match in count, name and id. Calls of new models must be signed. */
function checkCalls({ contents }: JsonObject, call: GeminiCall): string | undefined {
  const turns = asList(contents);
  return firstOf(
    turns.map((turn, index) => {
      const calls = partsOf(turn, 'functionCall');
      const results = partsOf(turns[index + 1], 'functionResponse');
      const isStray = partsOf(turn, 'functionResponse').length > 0 && partsOf(turns[index - 1], 'functionCall').length === 0;
      if (isStray) return 'Please ensure that function response turn comes immediately after a function call turn.';
      if (calls.length === 0) return undefined;
      if (index === 0 || turns[index - 1]?.['role'] !== 'user')
        return 'Please ensure that function call turn comes immediately after a user turn or after a function response turn.';
      if (calls.length !== results.length)
        return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.';
      return complainAboutPairs(calls, results) ?? complainAboutSignatures(turn, call);
    }),
  );
}

function complainAboutPairs(calls: readonly JsonObject[], results: readonly JsonObject[]): string | undefined {
  return firstOf(
    calls.map(({ id, name, args }, index) => {
      const result = id === undefined ? results[index] : results.find((one) => one['id'] === id);
      if (result?.['name'] !== name) return `The function response of "${String(name)}" has another name.`;
      return isObject(args) ? undefined : 'functionCall.args must be an object.';
    }),
  );
}

function complainAboutSignatures(turn: JsonObject, { model, isVertex, signatures }: GeminiCall): string | undefined {
  const parts = asList(turn['parts']).filter((part) => 'functionCall' in part);
  const hasId = parts.some(({ functionCall }) => isObject(functionCall) && 'id' in functionCall);
  if (hasId && isVertex) return 'Unknown name "id" at functionCall: Cannot find field.';
  const known = (signature: unknown): boolean => signature === SKIPPED_SIGNATURE || signatures.has(String(signature));
  if (parts.some(({ thoughtSignature }) => thoughtSignature !== undefined && !known(thoughtSignature)))
    return 'Corrupted thought signature.';
  return generationOf(model) >= 3 && parts[0]?.['thoughtSignature'] === undefined
    ? 'Function call is missing a thought_signature in functionCall parts.'
    : undefined;
}

function checkGenerationConfig({ generationConfig, serviceTier }: JsonObject, { model, isVertex }: GeminiCall): string | undefined {
  const config = isObject(generationConfig) ? generationConfig : {};
  const { seed, stopSequences, maxOutputTokens, responseJsonSchema, responseMimeType, responseModalities } = config;
  const hasPenalty = 'presencePenalty' in config || 'frequencyPenalty' in config;
  if (hasPenalty && !isVertex && generationOf(model) >= 2.5) return 'Penalty is not enabled for this model.';
  if (seed !== undefined && !(Number.isInteger(seed) && Math.abs(Number(seed)) <= INT32_MAX)) return 'Invalid value at seed (TYPE_INT32).';
  if (stopSequences !== undefined && !(Array.isArray(stopSequences) && stopSequences.length <= 5 && !stopSequences.includes('')))
    return 'Invalid stop sequences.';
  if (maxOutputTokens !== undefined && !(Number(maxOutputTokens) >= 1)) return 'max_output_tokens must be positive.';
  if (Array.isArray(responseModalities) && !model.includes('image')) return 'Model does not support the requested response modalities.';
  if (serviceTier !== undefined && (isVertex || !TIERS.has(serviceTier))) return 'Invalid value at service_tier.';
  const complaint = complainAboutLogprobs(config, { model, isVertex });
  if (complaint !== undefined || responseJsonSchema === undefined) return complaint;
  if (responseMimeType !== 'application/json') return 'response_json_schema needs response_mime_type application/json.';
  return complainAboutSchema(responseJsonSchema, 'generation_config.response_json_schema');
}

function complainAboutLogprobs(
  { responseLogprobs: isAsked, logprobs: count }: JsonObject,
  { model, isVertex }: Pick<GeminiCall, 'model' | 'isVertex'>,
): string | undefined {
  if (count !== undefined && isAsked !== true) return 'logprobs can only be set when response_logprobs is true.';
  if (count !== undefined && !(Number(count) >= 1 && Number(count) <= 20)) return 'logprobs must be from 1 to 20.';
  const generation = generationOf(model);
  const isEnabled = generation === 2 || (isVertex && generation === 2.5 && !model.includes('lite'));
  return isAsked === true && !isEnabled ? `Logprobs is not enabled for models/${model}` : undefined;
}

const LEVELS: ReadonlySet<unknown> = new Set(['LOW', 'MEDIUM', 'HIGH']);
const TIERS: ReadonlySet<unknown> = new Set(['flex', 'standard', 'priority']);

function checkThinking({ generationConfig }: JsonObject, { model }: GeminiCall): string | undefined {
  const thinking = isObject(generationConfig) ? generationConfig['thinkingConfig'] : undefined;
  if (!isObject(thinking)) return undefined;
  const generation = generationOf(model);
  const { thinkingLevel: level, thinkingBudget: budget, includeThoughts } = thinking;
  if (generation < 2.5) return 'Thinking is not enabled for this model.';
  if (level !== undefined && budget !== undefined) return 'You can only set one of thinking budget and thinking level.';
  if (level !== undefined) {
    const isMinimal = level === 'MINIMAL' && model.includes('flash') && generation < 3.7;
    return generation >= 3 && (isMinimal || LEVELS.has(level)) ? undefined : 'This thinking level is not supported.';
  }
  const [min, max] = model.includes('pro') ? [128, 32_768] : [0, 24_576];
  if (!(Number(budget) >= min && Number(budget) <= max)) return `The thinking budget ${String(budget)} is invalid.`;
  return budget === 0 && includeThoughts === true ? 'include_thoughts is only enabled when thinking is enabled.' : undefined;
}

function checkTools({ tools, toolConfig, generationConfig }: JsonObject, { model }: GeminiCall): string | undefined {
  const declarations = asList(tools).flatMap((tool) => asList(tool['functionDeclarations']));
  const isSearching = asList(tools).some((tool) => 'googleSearch' in tool);
  if (isSearching && declarations.length > 0) return 'Tool use with function calling is unsupported';
  if (tools !== undefined && declarations.length === 0 && !isSearching) return 'tools: at least one function is needed.';
  const config = isObject(toolConfig) && isObject(toolConfig['functionCallingConfig']) ? toolConfig['functionCallingConfig'] : {};
  const { mode = 'AUTO', allowedFunctionNames: allowed } = config;
  if (toolConfig !== undefined && declarations.length === 0) return 'Function calling config is set without function_declarations.';
  if (!['AUTO', 'ANY', 'NONE', 'VALIDATED'].includes(String(mode))) return 'Invalid function calling mode.';
  const names = declarations.map(({ name }) => String(name));
  if (Array.isArray(allowed) && (mode !== 'ANY' || allowed.some((name) => !names.includes(String(name)))))
    return 'allowed_function_names must name declared functions, in mode ANY.';
  const hasJson = isObject(generationConfig) && 'responseMimeType' in generationConfig;
  if (hasJson && declarations.length > 0 && (generationOf(model) < 3 || mode !== 'AUTO'))
    return "Function calling with a response mime type: 'application/json' is unsupported";
  return (
    firstOf(declarations.map(complainAboutDeclaration)) ??
    (new Set(names).size === names.length ? undefined : 'Duplicate function declaration.')
  );
}

function complainAboutDeclaration({ name, parametersJsonSchema: schema }: JsonObject): string | undefined {
  if (!/^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/u.test(String(name))) return `Invalid function name: ${String(name)}`;
  return schema === undefined ? undefined : complainAboutSchema(schema, 'tools.function_declarations.parameters_json_schema');
}

function checkContinuation({ continuationToken: token }: JsonObject, { continuationTokens }: GeminiCall): string | undefined {
  return token === undefined || (typeof token === 'string' && continuationTokens.has(token)) ? undefined : 'Invalid continuation token.';
}

/** Returns 2.5 for gemini-2.5-pro. A model of another family counts as an old one. */
function generationOf(model: string): number {
  return Number(/^gemini-(\d+(?:\.\d+)?)/u.exec(model)?.[1] ?? 1);
}

function partsOf(turn: JsonObject | undefined, field: string): JsonObject[] {
  return asList(turn?.['parts']).flatMap((part) => (isObject(part[field]) ? [part[field]] : []));
}

function firstOf(complaints: readonly (string | undefined)[]): string | undefined {
  return complaints.find((complaint) => complaint !== undefined);
}

function asList(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
