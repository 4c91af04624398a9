import { fieldsIn } from './anthropic-rules.ts';

type JsonObject = Record<string, unknown>;

/** Returns Converse's complaint about a request body, as its own validation would. Undefined if it is accepted. */
export function checkConverse(body: unknown, model?: string): string | undefined {
  try {
    const request = asObject(body, 'body');
    checkBody(request);
    checkCachePoints(request, model);
    checkSchemas(request, model);
    if (model !== undefined) checkSignatures(request, signatureOf(model));
    return undefined;
  } catch (error) {
    return error instanceof Complaint ? error.message : String(error);
  }
}

/** The signature a model puts on its reasoning. A model recognises its own, whatever the region. */
export function signatureOf(model: string): string {
  return `simulated-signature of ${model.replace(/^[a-z-]+\.(?=[a-z]+\.)/u, '')}`;
}

class Complaint extends Error {}

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/u;
const FIELDS = [
  'messages',
  'system',
  'inferenceConfig',
  'toolConfig',
  'additionalModelRequestFields',
  'outputConfig',
  'serviceTier',
  'requestMetadata',
  'performanceConfig',
  'guardrailConfig',
];

function checkBody(body: JsonObject): void {
  checkKeys(body, FIELDS, '');
  const messages = asList(body['messages'], 'messages');
  const names = new Set<string>();
  messages.forEach((message, index) => checkMessage(asObject(message, 'message'), index, names));
  checkToolOrder(messages as JsonObject[]);
  const hasToolBlocks = messages.some((message) =>
    asList(asObject(message, '')['content'], '').some((block) => isToolBlock(asObject(block, ''))),
  );
  if (hasToolBlocks && body['toolConfig'] === undefined)
    fail('The toolConfig field must be defined when using toolUse and toolResult content blocks.');
  if (body['system'] !== undefined)
    asList(body['system'], 'system').forEach((block) => checkBlock(asObject(block, 'system'), ['text', 'cachePoint'], names));
  if (body['inferenceConfig'] !== undefined) checkInference(asObject(body['inferenceConfig'], 'inferenceConfig'));
  if (body['toolConfig'] !== undefined) checkToolConfig(asObject(body['toolConfig'], 'toolConfig'));
  if (body['outputConfig'] !== undefined) checkOutput(asObject(body['outputConfig'], 'outputConfig'));
  if (body['serviceTier'] !== undefined)
    oneOf(asObject(body['serviceTier'], 'serviceTier')['type'], ['default', 'flex', 'priority', 'reserved']);
}

function checkMessage(message: JsonObject, index: number, names: Set<string>): void {
  checkKeys(message, ['role', 'content'], `messages.${index}`);
  const expected = index % 2 === 0 ? 'user' : 'assistant';
  if (message['role'] !== expected) fail('A conversation must alternate between user and assistant roles and start with a user message.');
  const content = asList(message['content'], `messages.${index}.content`).map((block) => asObject(block, 'block'));
  const kinds =
    expected === 'user' ? ['text', 'image', 'document', 'toolResult', 'cachePoint'] : ['text', 'toolUse', 'reasoningContent', 'cachePoint'];
  for (const block of content) checkBlock(block, kinds, names);
  content.forEach(({ cachePoint }, place) => {
    const before = content[place - 1]?.['document'];
    if (cachePoint !== undefined && before !== undefined && asObject(before, 'document')['format'] !== 'pdf')
      fail(`messages.${index}.content.${place}.type: Field required`);
  });
  if (content.some((block) => 'document' in block) && !content.some((block) => 'text' in block))
    fail('A document needs a text block beside it.');
}

function checkBlock(block: JsonObject, kinds: readonly string[], names: Set<string>): void {
  const [kind = '', ...others] = Object.keys(block);
  if (others.length > 0 || !kinds.includes(kind)) fail(`Unknown content block: ${Object.keys(block).join(', ')}`);
  if (kind === 'text' && String(block['text']).trim() === '') fail('The text field in the ContentBlock object is blank.');
  if (kind === 'image') checkMedia(asObject(block['image'], 'image'), ['png', 'jpeg', 'gif', 'webp']);
  if (kind === 'document') checkDocument(asObject(block['document'], 'document'), names);
  if (kind === 'cachePoint') oneOf(asObject(block['cachePoint'], 'cachePoint')['type'], ['default']);
  if (kind === 'toolUse') checkToolUse(asObject(block['toolUse'], 'toolUse'));
  if (kind === 'toolResult') checkToolResult(asObject(block['toolResult'], 'toolResult'), names);
  if (kind === 'reasoningContent') checkReasoning(asObject(block['reasoningContent'], 'reasoningContent'));
}

function checkMedia(media: JsonObject, formats: readonly string[]): void {
  oneOf(media['format'], formats);
  const source = asObject(media['source'], 'source');
  const { bytes } = source;
  if (media['format'] !== 'png' && String(bytes).startsWith('iVBOR')) fail('The provided image does not match the specified image format.');
  if (typeof bytes !== 'string' || !/^[A-Za-z0-9+/]+=*$/u.test(bytes)) fail('Bytes must be base64.');
}

function checkDocument(document: JsonObject, names: Set<string>): void {
  checkMedia(document, ['pdf', 'csv', 'doc', 'docx', 'xls', 'xlsx', 'html', 'txt', 'md']);
  const name = String(document['name']);
  if (!/^[A-Za-z0-9\s\-()[\]]{1,200}$/u.test(name) || /\s\s/u.test(name)) fail(`Invalid document name: ${name}`);
  if (names.has(name)) fail('Messages contain duplicate document file names.');
  names.add(name);
}

function checkToolUse(use: JsonObject): void {
  if (!TOOL_NAME.test(String(use['toolUseId']))) fail(`Invalid tool use id: ${String(use['toolUseId'])}`);
  if (!TOOL_NAME.test(String(use['name']))) fail(`Invalid tool name: ${String(use['name'])}`);
  asObject(use['input'], 'toolUse.input');
}

function checkToolResult(result: JsonObject, names: Set<string>): void {
  checkKeys(result, ['toolUseId', 'content', 'status'], 'toolResult');
  for (const block of asList(result['content'], 'toolResult.content'))
    checkBlock(asObject(block, 'result'), ['text', 'json', 'image', 'document'], names);
}

/** Reasoning is accepted back only with its signature, or redacted as it was. */
function checkReasoning(reasoning: JsonObject): void {
  if (typeof reasoning['redactedContent'] === 'string') return;
  if (typeof asObject(reasoning['reasoningText'], 'reasoningText')['signature'] !== 'string') fail('Invalid signature in thinking block.');
}

const CACHE_POINTS_MAX = 4;

/** Few models cache prompts, and those that do allow few cache points. Amazon's own do not cache tools. */
function checkCachePoints(body: JsonObject, model: string | undefined): void {
  const points = JSON.stringify(body).match(/\{"cachePoint":\{"type":"default"\}\}/gu) ?? [];
  if (points.length === 0) return;
  if (points.length > CACHE_POINTS_MAX) fail('Too many cachePoint blocks.');
  if (model === undefined) return;
  if (!/claude|nova/u.test(model)) fail('cachePoint is not supported by this model.');
  if (model.includes('nova') && JSON.stringify(body['toolConfig'] ?? {}).includes('cachePoint'))
    fail('toolConfig: cachePoint is not supported.');
}

/** Claude refuses a union at the top of a tool's schema, and Nova everything but fields. Other models accept it. */
function checkSchemas(body: JsonObject, model = ''): void {
  const tools = body['toolConfig'] === undefined ? [] : asList(asObject(body['toolConfig'], 'toolConfig')['tools'], 'tools');
  const specs = tools.map((tool) => asObject(tool, 'tool')['toolSpec']).filter((spec) => spec !== undefined);
  const schemas = specs.map((spec) => asObject(asObject(asObject(spec, 'toolSpec')['inputSchema'], 'inputSchema')['json'], 'json'));
  if (model.includes('nova')) for (const schema of schemas) checkKeys(schema, ['type', 'properties', 'required'], 'inputSchema.json');
  const refused = schemas.flatMap(fieldsIn).find((name) => !/^[a-zA-Z0-9_.-]{1,64}$/u.test(name));
  if (model.includes('claude') && refused !== undefined)
    fail(`input_schema.properties: Property keys should match another pattern: ${refused}`);
  if (model.includes('claude') && schemas.some((schema) => ['anyOf', 'oneOf', 'allOf'].some((keyword) => keyword in schema)))
    fail('input_schema does not support oneOf, allOf, or anyOf at the top level');
}

function checkSignatures(body: JsonObject, signature: string): void {
  const given = [...JSON.stringify(body['messages']).matchAll(/"signature":"([^"]*)"/gu)].map((match) => match[1]);
  if (given.some((one) => one !== signature)) fail('Invalid signature in thinking block.');
}

function checkToolOrder(messages: readonly JsonObject[]): void {
  const ids = [...JSON.stringify(messages).matchAll(/"toolUse":\{"toolUseId":"([^"]+)"/gu)].map((match) => match[1]);
  if (new Set(ids).size < ids.length) fail('tool_use ids must be unique');
  let open: unknown[] = [];
  for (const message of messages) {
    const blocks = message['content'] as JsonObject[];
    const answered = blocks.flatMap((block) => (block['toolResult'] === undefined ? [] : [asObject(block['toolResult'], '')['toolUseId']]));
    if (answered.length !== open.length || !answered.every((id) => open.includes(id)))
      fail('Expected toolResult blocks for exactly the toolUse ids of the previous turn.');
    open = blocks.flatMap((block) => (block['toolUse'] === undefined ? [] : [asObject(block['toolUse'], '')['toolUseId']]));
  }
}

function checkInference(config: JsonObject): void {
  checkKeys(config, ['maxTokens', 'temperature', 'topP', 'stopSequences'], 'inferenceConfig');
  for (const name of ['temperature', 'topP']) {
    const value = config[name];
    if (value !== undefined && (typeof value !== 'number' || value < 0 || value > 1)) fail(`${name} must be from 0 to 1.`);
  }
  if (config['maxTokens'] !== undefined && !(Number(config['maxTokens']) >= 1)) fail('maxTokens must be at least 1.');
  if (config['stopSequences'] !== undefined) asList(config['stopSequences'], 'stopSequences');
}

function checkToolConfig(config: JsonObject): void {
  checkKeys(config, ['tools', 'toolChoice'], 'toolConfig');
  const tools = asList(config['tools'], 'toolConfig.tools').filter((tool) => asObject(tool, 'tool')['cachePoint'] === undefined);
  const names = tools.map((tool) => {
    const spec = asObject(asObject(tool, 'tool')['toolSpec'], 'toolSpec');
    checkKeys(spec, ['name', 'description', 'inputSchema', 'strict'], 'toolSpec');
    if (!TOOL_NAME.test(String(spec['name']))) fail(`Invalid tool name: ${String(spec['name'])}`);
    if (spec['description'] === '') fail('A description has at least one character.');
    if (asObject(asObject(spec['inputSchema'], 'inputSchema')['json'], 'json')['type'] !== 'object')
      fail('The input schema must have the type object.');
    return spec['name'];
  });
  if (config['toolChoice'] === undefined) return;
  const choice = asObject(config['toolChoice'], 'toolChoice');
  checkKeys(choice, ['auto', 'any', 'tool'], 'toolChoice');
  if (choice['tool'] !== undefined && !names.includes(asObject(choice['tool'], 'tool')['name']))
    fail('The tool that is demanded is not offered.');
}

function checkOutput(config: JsonObject): void {
  checkKeys(config, ['textFormat', 'effort'], 'outputConfig');
  if (config['effort'] !== undefined) oneOf(config['effort'], ['low', 'medium', 'high', 'xhigh', 'max']);
  if (config['textFormat'] === undefined) return;
  const format = asObject(config['textFormat'], 'textFormat');
  oneOf(format['type'], ['json_schema']);
  const definition = asObject(asObject(format['structure'], 'structure')['jsonSchema'], 'jsonSchema');
  if (typeof definition['schema'] !== 'string') fail('The schema must be a string.');
  const schema = asObject(JSON.parse(definition['schema']), 'schema');
  if (schema['type'] === 'object' && schema['additionalProperties'] !== false)
    fail("For 'object' type, 'additionalProperties' must be explicitly set to false");
}

function isToolBlock(block: JsonObject): boolean {
  return 'toolUse' in block || 'toolResult' in block;
}

function checkKeys(value: JsonObject, allowed: readonly string[], path: string): void {
  const unknown = Object.keys(value).filter((name) => !allowed.includes(name));
  if (unknown.length > 0) fail(`${path}: extraneous key [${unknown.join(', ')}] is not permitted`);
}

function oneOf(value: unknown, allowed: readonly string[]): void {
  if (!allowed.includes(String(value))) fail(`Value '${String(value)}' must be one of ${allowed.join(', ')}.`);
}

function asObject(value: unknown, path: string): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) fail(`${path} must be an object.`);
  return value as JsonObject;
}

function asList(value: unknown, path: string): unknown[] {
  if (!Array.isArray(value) || value.length === 0) fail(`${path} must be a list with something in it.`);
  return value as unknown[];
}

function fail(message: string): never {
  throw new Complaint(message);
}
