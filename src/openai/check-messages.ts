import { GatewayError } from '../errors.ts';
import { arrayOf, checkFields, fields, invalid, missing, oneOf, stringOr, text, wrongType, type Check } from './check.ts';
import { isObject, type JsonObject } from './types.ts';

const MESSAGES_MAX = 2048;
const PARTS_MAX = 2048;
const TOOL_CALLS_MAX = 128;

/** Checks the conversation: each message by its role, then that tool calls and their results match. */
export function checkMessages(value: unknown): void {
  arrayOf(checkMessage, { min: 1, max: MESSAGES_MAX })(value, 'messages');
  checkToolOrder(value as readonly JsonObject[]);
}

const part = (types: readonly string[]): Check =>
  fields({ type: oneOf(...types), text: text(), refusal: text(), ...MEDIA_FIELDS }, ['type'], PARTS_BY_FIELD);
// Includes extensions that some hosts understand. If a model does not accept a part, its provider refuses it by name.
const MEDIA_PARTS = ['image_url', 'input_audio', 'file', 'video_url', 'audio_url', 'document_url'];
const USER_PARTS = ['text', ...MEDIA_PARTS];
const ASSISTANT_PARTS = ['text', 'refusal', 'thinking', 'reasoning'];
/** The parts whose type is also the name of the field that holds their content. Hosts differ about the other two. */
const PARTS_BY_FIELD = [...USER_PARTS, 'refusal'];
const MEDIA_FIELDS = Object.fromEntries(MEDIA_PARTS.map((type) => [type, stringOr('an object', text(), fields({ url: text() }))]));

const textOrParts = (types: readonly string[], min = 1): Check =>
  stringOr('an array', text(), arrayOf(part(types), { min, max: PARTS_MAX }));

const toolCall = fields(
  {
    id: text(),
    type: oneOf('function', 'custom'),
    function: fields({ name: text(), arguments: text() }, ['name']),
    custom: fields({ name: text(), input: text() }, ['name']),
  },
  ['id'],
  ['function', 'custom'],
);

const ROLES: ReadonlyMap<string, ReadonlyMap<string, Check>> = new Map(
  Object.entries({
    developer: { content: textOrParts(['text']), name: text() },
    system: { content: textOrParts(['text']), name: text() },
    user: { content: textOrParts(USER_PARTS), name: text() },
    assistant: {
      // Some clients write "none" as an empty list. It is not sent on to hosts that refuse it.
      content: textOrParts(ASSISTANT_PARTS, 0),
      refusal: text(),
      name: text(),
      tool_calls: arrayOf(toolCall, { max: TOOL_CALLS_MAX }),
      function_call: fields({ name: text(), arguments: text() }, ['name']),
    },
    // Images in tool results are an extension that some hosts accept.
    tool: { content: textOrParts(['text', 'image_url', 'file'], 0), tool_call_id: text() },
    function: { content: text(), name: text() },
  }).map(([role, table]) => [role, new Map<string, Check>(Object.entries(table))]),
);

const checkRole = oneOf(...ROLES.keys());

function checkMessage(value: unknown, param: string): void {
  if (!isObject(value)) throw wrongType(value, param, 'an object');
  const { role } = value;
  if (role === undefined || role === null) throw missing(`${param}.role`);
  const checks = ROLES.get(role as string);
  if (checks === undefined) return checkRole(role, `${param}.role`);
  checkContent(value, role as string, param);
  checkFields(value, checks, param);
}

function checkContent(message: JsonObject, role: string, param: string): void {
  if (role === 'tool' && isAbsent(message, 'tool_call_id')) throw missing(`${param}.tool_call_id`);
  if (role === 'function' && isAbsent(message, 'name')) throw missing(`${param}.name`);
  if (!isAbsent(message, 'content') || role === 'function') return;
  // An empty answer comes back from the official client for JavaScript with null for its text, next to null for a refusal.
  if (role === 'assistant' && (hasOtherContent(message) || (message['content'] === null && message['refusal'] === null))) return;
  if (message['content'] === undefined) throw missing(`${param}.content`);
  throw new GatewayError('invalid_type', `Invalid value for '${param}.content': expected a string, got null.`, {
    param: `${param}.content`,
  });
}

function isAbsent(message: JsonObject, name: string): boolean {
  return message[name] === undefined || message[name] === null;
}

/** Whether an assistant message needs no text because it carries something else. */
export function hasOtherContent(message: JsonObject): boolean {
  const { tool_calls: calls, function_call: call, refusal, audio } = message;
  return (Array.isArray(calls) && calls.length > 0) || [call, refusal, audio].some((value) => value !== undefined && value !== null);
}

/**
 * Checks that every tool call is followed directly by its result, and that every result has a call. Providers refuse anything else. Some
 * models give several calls the same id: each of them has a result.
 */
function checkToolOrder(messages: readonly JsonObject[]): void {
  const open: unknown[] = [];
  let index = 0;
  for (const message of messages) {
    if (message['role'] === 'tool') closeCall(open, message['tool_call_id'], index);
    else refuseUnanswered(open, index);
    // In other roles the field means nothing, and its content was not checked.
    if (message['role'] === 'assistant') openCalls(open, message['tool_calls']);
    index += 1;
  }
  refuseUnanswered(open, index);
}

function openCalls(open: unknown[], calls: unknown): void {
  if (Array.isArray(calls)) for (const call of calls) open.push((call as JsonObject)['id']);
}

function closeCall(open: unknown[], id: unknown, index: number): void {
  const answered = open.indexOf(id);
  if (answered !== -1) return void open.splice(answered, 1);
  throw invalid(
    `messages[${index}].tool_call_id`,
    `messages[${index}] has role 'tool' but answers no tool call of the preceding assistant message. Send the assistant message with that 'tool_calls' entry first, and one result per call.`,
  );
}

function refuseUnanswered(open: readonly unknown[], index: number): void {
  if (open.length === 0) return;
  throw invalid(
    'messages',
    `An assistant message with 'tool_calls' must be followed by tool messages that answer each 'tool_call_id'; ${open.length} unanswered before messages[${index}].`,
  );
}
