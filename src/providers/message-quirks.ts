import { hasOtherContent } from '../openai/check-messages.ts';
import { isObject, type ChatRequest, type JsonObject } from '../openai/types.ts';
import { namesOfToolCalls } from './content.ts';
import type { MessageQuirks } from './host.ts';
import { hasToolCalls } from './repair-chunks.ts';
import { boundedToolId, shortToolId } from './call-ids.ts';
import { lookUp } from './look-up.ts';
import { withoutNulls } from './without-nulls.ts';

/** Fields that clients keep from answers, or add to them, and send back. They are outside OpenAI's schema of a message. */
const EXTENSIONS = [
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  'thinking_blocks',
  'extra_content',
  'cache_control',
  'images',
  'parsed',
  'provider_specific_fields',
];
/** The same for content parts, tool calls and the functions in them. */
const PART_EXTENSIONS = ['index', 'cache_control', 'extra_content', 'provider_specific_fields', 'parsed_arguments'];
/** Parts whose URL is in an object. */
const MEDIA: ReadonlySet<string> = new Set(['image_url', 'audio_url', 'video_url']);

/**
 * Returns the messages in the form the host accepts. The caller's messages are not modified, since they may be sent to
 * another host next. If nothing changes, the same array is returned, so that its original text can be sent.
 */
export function encodeMessages(chat: ChatRequest, quirks: MessageQuirks): readonly JsonObject[] {
  const names = quirks.namesToolResults === true ? namesOfToolCalls(chat) : undefined;
  let messages = chat.messages.map((message) => encodeMessage(message, quirks, names));
  if (quirks.joinsSystem === true) messages = joinSystem(messages);
  if (quirks.joinsTurns === true) messages = joinTurns(messages);
  if (quirks.answersResults === true) messages = messages.flatMap((message, at) => afterResult(message, messages[at - 1]));
  const last = messages.at(-1);
  if (quirks.continues !== undefined && last?.['role'] === 'assistant')
    messages[messages.length - 1] = { ...last, [quirks.continues]: true };
  return unlessSameItems(chat.messages, messages);
}

/** Moves all system messages into one at the start. */
function joinSystem(messages: JsonObject[]): JsonObject[] {
  const system = messages.filter(({ role }) => role === 'system');
  if (system.length === 0 || (system.length === 1 && messages[0] === system[0])) return messages;
  return [{ role: 'system', content: joinContents(system) }, ...messages.filter(({ role }) => role !== 'system')];
}

/** Joins what the user or the assistant said in several messages in a row. */
function joinTurns(messages: readonly JsonObject[]): JsonObject[] {
  const turns: [JsonObject, ...JsonObject[]][] = [];
  for (const message of messages) {
    const turn = turns.at(-1);
    if (turn !== undefined && isSaid(message) && isSaid(turn[0]) && turn[0]['role'] === message['role']) turn.push(message);
    else turns.push([message]);
  }
  return turns.map((turn) => (turn.length === 1 ? turn[0] : { ...turn[0], content: joinContents(turn) }));
}

/** True for what the user or the assistant said, as opposed to tool calls and their results. */
function isSaid(message: JsonObject): boolean {
  return (message['role'] === 'user' || message['role'] === 'assistant') && !hasToolCalls(message);
}

function joinContents(messages: readonly JsonObject[]): unknown {
  const contents = messages.map(({ content }) => content ?? '');
  if (contents.every((content) => typeof content === 'string')) return contents.join('\n\n');
  return contents.flatMap((content) => (typeof content === 'string' ? { type: 'text', text: content } : content));
}

/** Returns a message, after an answer if it is a question that follows a tool result. */
function afterResult(message: JsonObject, previous: JsonObject | undefined): JsonObject[] {
  const isQuestion = message['role'] === 'user' && previous?.['role'] === 'tool';
  return isQuestion ? [{ role: 'assistant', content: 'OK.' }, message] : [message];
}

function encodeMessage(original: JsonObject, quirks: MessageQuirks, names: ReadonlyMap<string, string> | undefined): JsonObject {
  const message = { ...original };
  const role = String(message['role']);
  message['role'] = lookUp(quirks.roles ?? {}, role) ?? role;
  spellNothing(message);
  message['content'] = mapParts(message['content'], wrapUrl);
  if (quirks.hasBasicSchema === true) simplify(message);
  if (quirks.stripsExtensions === true) stripExtensions(message, quirks);
  if (quirks.wantsReasoning === true && role === 'assistant') message['reasoning_content'] ??= message['reasoning'] ?? '';
  if (quirks.wantsReasoningOfCalls === true && hasToolCalls(message)) ensureReasoning(message);
  for (const name of quirks.drops ?? []) delete message[name];
  if (quirks.hasShortToolIds === true || quirks.toolIdCharactersMax !== undefined) encodeToolIds(message, quirks);
  if (names !== undefined && role === 'tool')
    message['name'] = names.get(String(original['tool_call_id'])) ?? original['name'] ?? undefined;
  const { filePart } = quirks;
  if (filePart !== undefined) message['content'] = mapParts(message['content'], (part) => encodeFile(part, filePart));
  return unlessSame(original, message);
}

/** Returns the original if the changed copy is equal. */
function unlessSame(before: JsonObject, after: JsonObject): JsonObject {
  return holdsAll(before, after) && holdsAll(after, before) ? before : after;
}

function holdsAll(one: JsonObject, other: JsonObject): boolean {
  for (const name in other) if (one[name] !== other[name]) return false;
  return true;
}

function unlessSameItems<Item>(before: readonly Item[], after: readonly Item[]): readonly Item[] {
  return before.length === after.length && before.every((item, index) => item === after[index]) ? before : after;
}

/** Writes "no text" and "no calls" in the way that every host accepts. */
function spellNothing(message: JsonObject): void {
  const { content, tool_calls: calls } = message;
  if (Array.isArray(content) && content.length === 0) message['content'] = '';
  if (calls === null || (Array.isArray(calls) && calls.length === 0)) delete message['tool_calls'];
  if (content === null && message['role'] === 'assistant' && !hasOtherContent(message)) message['content'] = '';
}

/** Puts the bare URL that some clients send for media into an object, which every host accepts. */
function wrapUrl(part: JsonObject): JsonObject {
  const name = String(part['type']);
  const url = part[name];
  return MEDIA.has(name) && typeof url === 'string' ? { ...part, [name]: { url } } : part;
}

/** Puts a message into the basic schema. Null `content` stays: a message without text has it at every host. */
function simplify(message: JsonObject): void {
  for (const name in message) if (message[name] === null && name !== 'content') delete message[name];
  if (message['refusal'] !== undefined) moveRefusal(message);
  message['content'] = mapParts(message['content'], (part) => withoutNulls(part));
  if (hasToolCalls(message)) message['tool_calls'] = mapParts(message['tool_calls'], completeCall);
}

/** A space is the shortest reasoning the host accepts. */
function ensureReasoning(message: JsonObject): void {
  const said = [message['reasoning_content'], message['reasoning']].find((text) => typeof text === 'string' && text !== '');
  message['reasoning_content'] = said ?? ' ';
}

/** Moves a refusal into the content, since the host has no field for it: it is what the assistant said. */
function moveRefusal(message: JsonObject): void {
  if (typeof message['refusal'] === 'string' && (message['content'] ?? '') === '') message['content'] = message['refusal'];
  delete message['refusal'];
}

/** Gives empty arguments to a call that has none: the host parses them. */
function completeCall(given: JsonObject): JsonObject {
  const call = withoutNulls(given);
  const { function: called } = call;
  return isObject(called) && called['arguments'] === '' ? { ...call, function: { ...called, arguments: '{}' } } : call;
}

function stripExtensions(message: JsonObject, { hasThinkingParts, reasoningField }: MessageQuirks): void {
  if (reasoningField !== undefined) message[reasoningField] ??= message['reasoning_content'];
  for (const name of EXTENSIONS) if (name !== reasoningField) delete message[name];
  const { content } = message;
  const isKept = (part: unknown): boolean =>
    !isObject(part) || (part['type'] !== 'reasoning' && (part['type'] !== 'thinking' || hasThinkingParts === true));
  const said = Array.isArray(content) ? unlessSameItems<unknown>(content, content.filter(isKept)) : content;
  message['content'] = mapParts(said, withoutExtensions);
  if (Array.isArray(message['tool_calls'])) message['tool_calls'] = mapParts(message['tool_calls'], withoutExtensions);
}

function withoutExtensions(part: JsonObject): JsonObject {
  const rest = { ...part };
  for (const name of PART_EXTENSIONS) delete rest[name];
  if (isObject(part['function'])) rest['function'] = withoutExtensions(part['function']);
  return unlessSame(part, rest);
}

function encodeToolIds(message: JsonObject, quirks: MessageQuirks): void {
  const { tool_call_id: answered, tool_calls: calls } = message;
  if (typeof answered === 'string') message['tool_call_id'] = encodeToolId(answered, quirks);
  if (calls !== undefined)
    message['tool_calls'] = mapParts(calls, (call) => unlessSame(call, { ...call, id: encodeToolId(String(call['id']), quirks) }));
}

function encodeToolId(id: string, { hasShortToolIds, toolIdCharactersMax = Number.POSITIVE_INFINITY }: MessageQuirks): string {
  return hasShortToolIds === true ? shortToolId(id) : boundedToolId(id, toolIdCharactersMax);
}

function encodeFile(part: JsonObject, name: string): JsonObject {
  const file = part['file'];
  return part['type'] === 'file' && isObject(file) && typeof file['file_data'] === 'string'
    ? { type: name, [name]: file['file_data'] }
    : part;
}

/** Maps the parts of a list. Text or missing content is returned as is. An empty list becomes an empty text. */
function mapParts(content: unknown, change: (part: JsonObject) => JsonObject): unknown {
  if (!Array.isArray(content)) return content;
  return content.length === 0 ? '' : unlessSameItems<unknown>(content, content.filter(isObject).map(change));
}
