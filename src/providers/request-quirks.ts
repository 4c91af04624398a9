import { isObject, type ChatRequest, type JsonObject } from '../openai/types.ts';
import { CACHE_MARKS, stripCacheMarks, type CacheMark } from './cache-marks.ts';
import { lostMessageFields } from './lost-fields.ts';
import type { Host, MessageQuirks, ModelQuirks, RequestQuirks } from './host.ts';
import { jsonFormat, jsonInstruction } from './json-instruction.ts';
import { encodeMessages } from './message-quirks.ts';
import { refusal } from './dialect.ts';
import { moveEffort } from './reasoning-fields.ts';
import { limitToolChoice, simplifyFields, typedTools } from './tool-quirks.ts';
import { lookUp } from './look-up.ts';

/**
 * Changes a request so that the host accepts it, and returns the names of the fields that were lost. The body is ours
 * to modify. Its contents belong to the caller and are copied before they change.
 */
export function applyRequestQuirks(body: JsonObject, host: Host, model: string): readonly string[] {
  const { request: quirks = {} } = host;
  const kind = host.models?.find(({ pattern }) => pattern.test(model));
  const { drops: refused = [], efforts = quirks.efforts, toolChoice = quirks.toolChoice, renames = quirks.renames } = kind ?? {};
  const messages: MessageQuirks | undefined = quirks.messages === undefined ? undefined : { ...quirks.messages, ...kind?.messages };
  const { lost, nameOf } = moveEffort(body, quirks.reasoningFields);
  // `default` is one host's word for the model's own choice. Everywhere else that means omitting the field.
  if (body['reasoning_effort'] === 'default' && efforts?.['default'] === undefined) delete body['reasoning_effort'];
  if (quirks.isSingleChoice === true) refuseSeveralChoices(body, host);
  if (kind?.hasNoTools === true) refuseTools(body);
  const dropped = [...dropFields(body, [...(quirks.drops ?? []), ...refused]), ...(kind === undefined ? [] : dropByReasoning(body, kind))];
  dropped.push(...narrowFields(body, quirks.narrows));
  if (messages?.hasBasicSchema === true) simplifyFields(body);
  if (quirks.hasTypedSchemas === true && Array.isArray(body['tools'])) body['tools'] = typedTools(body['tools']);
  if (toolChoice !== undefined) dropped.push(...limitToolChoice(body, toolChoice, efforts?.['none']));
  if (quirks.hasNoJsonSchema === true) dropped.push(...instructSchema(body));
  if (hasNoJson(body, quirks)) dropped.push(...instructFormat(body));
  if (quirks.cacheMarks !== undefined) dropped.push(...stripCacheMarks(body, quirks.cacheMarks, marksOf(messages)));
  if (messages !== undefined) dropped.push(...changeMessages(body, messages));
  changeValues(body, quirks, efforts);
  for (const name of quirks.omits ?? []) delete body[name];
  renameFields(body, renames);
  Object.assign(body, quirks.adds);
  return [...lost, ...dropped.map(nameOf)];
}

/** Patches the messages. Fields that clients merely send back from earlier answers are no loss; fields the caller wrote are. */
function changeMessages(body: JsonObject, quirks: MessageQuirks): readonly string[] {
  const { messages } = body as ChatRequest;
  body['messages'] = encodeMessages(body as ChatRequest, quirks);
  return lostMessageFields(
    quirks.namesToolResults === true ? messages.filter(({ role }) => role !== 'tool') : messages,
    ['name', 'audio'].filter((name) => quirks.drops?.includes(name) === true),
  );
}

/** A host that follows OpenAI's own message schema, nulls included, also accepts OpenAI's cache marks. */
function marksOf(messages: MessageQuirks | undefined): readonly CacheMark[] {
  return messages?.stripsExtensions === true && messages.hasBasicSchema !== true ? ['cache_control'] : CACHE_MARKS;
}

function refuseSeveralChoices(body: JsonObject, host: Host): void {
  const count = body['n'];
  delete body['n'];
  if (typeof count !== 'number' || count <= 1) return;
  throw refusal('n', `${host.name} returns one choice per request, but 'n' is ${count}.`);
}

function refuseTools(body: JsonObject): void {
  const param = ['tools', 'functions'].find((name) => body[name] !== undefined);
  if (param === undefined) return;
  throw refusal(param, 'This model accepts tools only without reasoning, which it cannot turn off here. Choose another model for tools.');
}

/** Drops what a model cannot combine with tools or with reasoning. */
function dropByReasoning(body: JsonObject, kind: ModelQuirks): string[] {
  const { hasNoReasoningWithTools, hasNoEffortWithTools, dropsWhileReasoning = [], reasonsByDefault = false } = kind;
  const asked = body['reasoning_effort'];
  const hasTools = body['tools'] !== undefined || body['functions'] !== undefined;
  if (hasTools && hasNoReasoningWithTools === true) body['reasoning_effort'] = 'none';
  else if (hasTools && hasNoEffortWithTools === true && (asked !== 'none' || !reasonsByDefault)) delete body['reasoning_effort'];
  const effort = body['reasoning_effort'];
  const lost = asked === undefined || asked === 'none' || asked === effort ? [] : ['reasoning_effort'];
  const reasons = effort === undefined ? reasonsByDefault : effort !== 'none';
  return reasons ? [...lost, ...dropFields(body, dropsWhileReasoning)] : lost;
}

/** Default values: dropping them loses nothing. */
const NEUTRAL: Readonly<Record<string, unknown>> = {
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  logprobs: false,
  verbosity: 'medium',
};

function dropFields(body: JsonObject, names: readonly string[]): string[] {
  const dropped = names.filter((name) => body[name] !== undefined && body[name] !== NEUTRAL[name]);
  for (const name of names) delete body[name];
  return dropped;
}

/** Keeps only the allowed fields of an object, in a copy. Anything left empty, or not an object, is dropped. */
function narrowFields(body: JsonObject, narrows: RequestQuirks['narrows'] = {}): string[] {
  return Object.entries(narrows).flatMap(([name, kept]) => {
    const value = body[name];
    if (value === undefined || value === null) return [];
    const inner = isObject(value) ? Object.entries(value) : [];
    const left = inner.filter(([field]) => kept.includes(field));
    if (left.length === 0) delete body[name];
    else body[name] = Object.fromEntries(left);
    return isObject(value) ? inner.filter(([field]) => !kept.includes(field)).map(([field]) => `${name}.${field}`) : [name];
  });
}

/** Replaces a response schema by the closest the host supports: JSON mode, with the schema in a system message before the conversation. */
function instructSchema(body: JsonObject): string[] {
  const format = jsonFormat(body as ChatRequest);
  if (format?.['type'] !== 'json_schema') return [];
  body['response_format'] = { type: 'json_object' };
  instruct(body, format);
  return ['response_format.json_schema'];
}

/** Whether the host does not support JSON mode, which may depend on the rest of the request. */
function hasNoJson(body: JsonObject, { hasNoJsonMode, hasNoJsonWithTools }: RequestQuirks): boolean {
  if (hasNoJsonWithTools === true && body['tools'] !== undefined) return true;
  return hasNoJsonMode === true && jsonFormat(body as ChatRequest)?.['type'] === 'json_object';
}

/** Does the same for hosts that do not even support JSON mode here. */
function instructFormat(body: JsonObject): string[] {
  const format = jsonFormat(body as ChatRequest);
  if (format === undefined) return [];
  delete body['response_format'];
  instruct(body, format);
  return ['response_format'];
}

function instruct(body: JsonObject, format: JsonObject): void {
  body['messages'] = [{ role: 'system', content: jsonInstruction(format) }, ...(body as ChatRequest).messages];
}

function changeValues(body: JsonObject, { values = {}, temperatureMax }: RequestQuirks, efforts: RequestQuirks['efforts'] = {}): void {
  for (const name in values) {
    const value = body[name];
    if (typeof value === 'string') body[name] = lookUp(values[name] ?? {}, value) ?? value;
  }
  const effort = lookUp(efforts, body['reasoning_effort']);
  if (effort !== undefined) {
    delete body['reasoning_effort'];
    Object.assign(body, effort);
  }
  const { temperature } = body;
  if (typeof temperature === 'number' && temperatureMax !== undefined) body['temperature'] = Math.min(temperature, temperatureMax);
}

/** Renames fields. An existing value under the new name wins. */
function renameFields(body: JsonObject, renames: RequestQuirks['renames'] = {}): void {
  for (const name in renames) {
    const renamed = renames[name];
    if (body[name] === undefined || renamed === undefined) continue;
    body[renamed] ??= body[name];
    delete body[name];
  }
}
