import { isObject, type ChatRequest, type JsonObject } from '../openai/types.ts';
import { CACHE_MARKS, stripCacheMarks, type CacheMark } from './cache-marks.ts';
import { lostMessageFields } from './content.ts';
import type { Host, MessageQuirks, ModelQuirks, RequestQuirks } from './host.ts';
import { jsonFormat, jsonInstruction } from './json-instruction.ts';
import { encodeMessages } from './message-quirks.ts';
import { refusal } from './provider.ts';

/**
 * Changes a request, so that the host takes it. The body is ours, what is in it is the caller's and is copied where it
 * changes. Gives the names of the fields that were lost.
 */
export function applyRequestQuirks(body: JsonObject, host: Host, model: string): readonly string[] {
  const { request: quirks = {} } = host;
  const kind = host.models?.find(({ pattern }) => pattern.test(model));
  const { drops: refused = [], efforts = quirks.efforts } = kind ?? {};
  // The word of one host for whatever the model does by itself: to all others that is said by saying nothing.
  if (body['reasoning_effort'] === 'default' && efforts?.['default'] === undefined) delete body['reasoning_effort'];
  if (quirks.isSingleChoice === true) refuseSeveralChoices(body, host);
  const dropped = [...dropFields(body, [...(quirks.drops ?? []), ...refused]), ...(kind === undefined ? [] : dropByReasoning(body, kind))];
  dropped.push(...narrowFields(body, quirks.narrows));
  if (quirks.cacheMarks !== undefined) dropped.push(...stripCacheMarks(body, quirks.cacheMarks, marksOf(quirks)));
  if (quirks.messages !== undefined) dropped.push(...changeMessages(body, { ...quirks.messages, ...kind?.messages }));
  if (quirks.hasNoJsonSchema === true) dropped.push(...instructSchema(body));
  if (quirks.hasNoJsonWithTools === true && body['tools'] !== undefined) dropped.push(...instructFormat(body));
  changeValues(body, quirks, efforts);
  for (const name of quirks.omits ?? []) delete body[name];
  renameFields(body, quirks.renames);
  Object.assign(body, quirks.adds);
  return dropped;
}

/** What answers have and clients send back is no loss; what callers wrote themselves is. */
function changeMessages(body: JsonObject, quirks: MessageQuirks): readonly string[] {
  const { messages } = body as ChatRequest;
  body['messages'] = encodeMessages(body as ChatRequest, quirks);
  return lostMessageFields(
    quirks.namesToolResults === true ? messages.filter(({ role }) => role !== 'tool') : messages,
    ['name', 'audio'].filter((name) => quirks.drops?.includes(name) === true),
  );
}

/** Who takes OpenAI's own description of a message, nulls and all, takes its own marks. */
function marksOf({ messages }: RequestQuirks): readonly CacheMark[] {
  return messages?.stripsExtensions === true && messages.stripsNulls !== true ? ['cache_control'] : CACHE_MARKS;
}

function refuseSeveralChoices(body: JsonObject, host: Host): void {
  const count = body['n'];
  delete body['n'];
  if (typeof count !== 'number' || count <= 1) return;
  throw refusal('n', `${host.name} gives one answer to a request; 'n' is ${count}.`);
}

/** What a model gives up for tools or for reasoning. */
function dropByReasoning(body: JsonObject, { restsWithTools, dropsAwake = [] }: ModelQuirks): string[] {
  const effort = body['reasoning_effort'] ?? 'none';
  const mustRest = restsWithTools === true && (body['tools'] !== undefined || body['functions'] !== undefined);
  if (mustRest) body['reasoning_effort'] = 'none';
  const lost = mustRest && effort !== 'none' ? ['reasoning_effort'] : [];
  return mustRest || effort === 'none' ? lost : dropFields(body, dropsAwake);
}

/** Values that ask for nothing: leaving them out is no loss. */
const NEUTRAL: Readonly<Record<string, unknown>> = { temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0, logprobs: false };

function dropFields(body: JsonObject, names: readonly string[]): string[] {
  const dropped = names.filter((name) => body[name] !== undefined && body[name] !== NEUTRAL[name]);
  for (const name of names) delete body[name];
  return dropped;
}

/** What is left of an object is a copy. One that has nothing left, or is no object, is left out. */
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

/** The nearest that the host has to a schema: JSON, with the schema in words before the conversation. */
function instructSchema(body: JsonObject): string[] {
  const format = jsonFormat(body as ChatRequest);
  if (format?.['type'] !== 'json_schema') return [];
  body['response_format'] = { type: 'json_object' };
  instruct(body, format);
  return ['response_format.json_schema'];
}

/** The same where not even JSON can be asked for by its field. */
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
    if (typeof value === 'string') body[name] = values[name]?.[value] ?? value;
  }
  const effort = body['reasoning_effort'];
  if (typeof effort === 'string' && efforts[effort] !== undefined) {
    delete body['reasoning_effort'];
    Object.assign(body, efforts[effort]);
  }
  const { temperature } = body;
  if (typeof temperature === 'number' && temperatureMax !== undefined) body['temperature'] = Math.min(temperature, temperatureMax);
}

/** A field that is there under its new name already keeps that value. */
function renameFields(body: JsonObject, renames: RequestQuirks['renames'] = {}): void {
  for (const name in renames) {
    const renamed = renames[name];
    if (body[name] === undefined || renamed === undefined) continue;
    body[renamed] ??= body[name];
    delete body[name];
  }
}
