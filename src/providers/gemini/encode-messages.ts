import { objectsOf, textOf, type JsonObject } from '../../openai/types.ts';
import { readText, readToolCalls, type ToolCall } from '../content.ts';
import { refusal } from '../dialect.ts';
import { encodeParts } from './encode-parts.ts';
import type { Draft } from './draft.ts';
import { readSignature, SKIPPED_SIGNATURE } from './carried.ts';
import { encodeToolName } from './tool-names.ts';

type Parts = readonly JsonObject[];

/** One turn. Function results form a turn of their own, with one result per call. */
interface Content {
  readonly role: 'user' | 'model';
  readonly parts: Parts;
  readonly isResults?: true;
}

/** The conversation in Google's dialect. */
export interface EncodedMessages {
  readonly contents: readonly JsonObject[];
  readonly systemInstruction: JsonObject | undefined;
}

/** Encodes the messages. `instruction` is the gateway's own and is added to the caller's. */
export function encodeMessages(draft: Draft, instruction: string | undefined): EncodedMessages {
  const system = [...leadingInstructions(draft), ...(instruction === undefined ? [] : [{ text: instruction }])];
  const turns = joinTurns(encodeTurns(draft));
  const isApart = draft.capabilities.hasSystemInstruction && turns.length > 0;
  const contents = isApart || system.length === 0 ? turns : joinTurns([{ role: 'user', parts: system }, ...turns]);
  if (contents.length === 0) throw refusal('messages', 'There is nothing to answer: every message is empty.');
  return {
    contents: openWithUser(contents).map(({ role, parts }) => ({ role, parts })),
    systemInstruction: isApart && system.length > 0 ? { parts: system } : undefined,
  };
}

const INSTRUCTION_ROLES: ReadonlySet<unknown> = new Set(['system', 'developer']);

function countLeading({ chat }: Draft): number {
  const first = chat.messages.findIndex(({ role }) => !INSTRUCTION_ROLES.has(role));
  return first === -1 ? chat.messages.length : first;
}

function leadingInstructions(draft: Draft): Parts {
  const texts = draft.chat.messages.slice(0, countLeading(draft)).map(({ content }) => readText(content));
  return texts.filter((text) => text !== '').map((text) => ({ text }));
}

function encodeTurns(draft: Draft): Content[] {
  const turns: Content[] = [];
  const { messages } = draft.chat;
  for (let index = countLeading(draft); index < messages.length; index += 1) {
    const message = messages[index] ?? {};
    if (message['role'] === 'assistant') {
      turns.push({ role: 'model', parts: [...encodeAssistantText(message), ...encodeCalls(message, draft)] });
      const results = encodeResults(draft, index);
      turns.push(...results);
      index += results.length;
    } else {
      // Instructions mid-conversation, and results without a call, have no place of their own: they become user turns.
      turns.push({ role: 'user', parts: encodeParts(message['content'], `messages[${index}].content`) });
    }
  }
  return turns;
}

function encodeAssistantText(message: JsonObject): Parts {
  const { content, refusal: refused } = message;
  const text = readText(content) + textOf(refused);
  return text === '' ? [] : [{ text }];
}

function encodeCalls(message: JsonObject, draft: Draft): Parts {
  const { capabilities } = draft;
  return readCalls(message).map(({ raw, id, name, input }, index) => {
    const known = readSignature(raw, draft);
    // Of calls made together, only the first is signed.
    const thoughtSignature = known ?? (capabilities.needsSignatures && index === 0 ? SKIPPED_SIGNATURE : undefined);
    return {
      functionCall: { ...encodeId(id, draft), name: encodeToolName(name), args: input },
      ...(thoughtSignature === undefined ? {} : { thoughtSignature }),
    };
  });
}

/** A tool call, with the caller's original object. */
interface RawCall extends ToolCall {
  readonly raw: JsonObject;
}

function readCalls(message: JsonObject): readonly RawCall[] {
  const raw = objectsOf(message['tool_calls']);
  return readToolCalls(message).map((call, index) => ({ ...call, raw: raw[index] ?? {} }));
}

/** Vertex and older models do not support ids. */
function encodeId(id: string | undefined, { capabilities, service }: Draft): JsonObject {
  return id !== undefined && capabilities.hasCallIds && service === 'gemini' ? { id } : {};
}

/**
 * Encodes the results after an assistant message, one turn each, in the order of their calls: without ids, the order is
 * the only way to tell two calls of one function apart. Ids are looked up in that message only, because some clients
 * restart their numbering.
 */
function encodeResults(draft: Draft, assistantIndex: number): Content[] {
  const { messages } = draft.chat;
  const calls = readCalls(messages[assistantIndex] ?? {});
  const results: { readonly position: number; readonly turn: Content }[] = [];
  for (let index = assistantIndex + 1; calls.length > 0 && messages[index]?.['role'] === 'tool'; index += 1) {
    const message = messages[index] ?? {};
    const isOpen = (place: number): boolean => results.every(({ position }) => position !== place);
    const position = calls.findIndex(({ id }, place) => id === message['tool_call_id'] && isOpen(place));
    const parts = encodeResult(message, { draft, call: calls[position], param: `messages[${index}].content` });
    results.push({ position, turn: { role: 'user', parts, isResults: true } });
  }
  return results.toSorted((one, other) => one.position - other.position).map(({ turn }) => turn);
}

interface Place {
  readonly draft: Draft;
  readonly call: RawCall | undefined;
  readonly param: string;
}

/** Encodes a result as an object with its function's name. The text is not parsed, because parsing could lose digits. */
function encodeResult(message: JsonObject, { draft, call, param }: Place): Parts {
  const media = encodeParts(message['content'], param).filter((part) => !('text' in part));
  const isInside = draft.capabilities.hasMediaInResults && media.length > 0;
  const functionResponse = {
    ...encodeId(call?.id, draft),
    name: encodeToolName(call?.name ?? String(message['name'])),
    response: { output: readText(message['content']) },
    ...(isInside ? { parts: media } : {}),
  };
  return [{ functionResponse }, ...(isInside ? [] : media)];
}

/** Merges adjacent turns of one role. Turns without parts are refused, so they are left out. */
function joinTurns(turns: readonly Content[]): readonly Content[] {
  const joined: (Content & { readonly parts: JsonObject[] })[] = [];
  for (const turn of turns) {
    const last = joined.at(-1);
    if (turn.parts.length === 0) continue;
    if (last?.role === turn.role && last.isResults === turn.isResults) for (const part of turn.parts) last.parts.push(part);
    else joined.push({ ...turn, parts: [...turn.parts] });
  }
  return joined;
}

/** Adds a user turn if the conversation starts with a function call, which must follow a user turn. */
function openWithUser(contents: readonly Content[]): readonly Content[] {
  const isCut = contents[0]?.role === 'model' && contents[0].parts.some((part) => 'functionCall' in part);
  return isCut ? [{ role: 'user', parts: [{ text: '(earlier messages left out)' }] }, ...contents] : contents;
}
