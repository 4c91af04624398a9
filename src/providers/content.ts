import { Buffer } from 'node:buffer';
import { isNestedTooDeep } from '../openai/json-depth.ts';
import { isObject, objectOf, objectsOf, textOf, type ChatRequest, type JsonObject } from '../openai/types.ts';
import { CACHE_MARKS } from './cache-marks.ts';
import { recogniseMedia } from './media-types.ts';
import { parseExact } from '../openai/parse-exact.ts';

/** One part of a message, normalised across the spellings clients use. */
export type Part =
  | { readonly type: 'text'; readonly text: string; readonly isCacheBreak: boolean }
  | { readonly type: 'image'; readonly url: string; readonly isCacheBreak: boolean }
  | { readonly type: 'audio'; readonly data: string; readonly format: string; readonly isCacheBreak: boolean }
  | {
      readonly type: 'file';
      readonly name: string | undefined;
      readonly url: string | undefined;
      readonly id: string | undefined;
      readonly isCacheBreak: boolean;
    }
  /** A part that only some providers have. Media such as `video_url` has its URL under the part's own name. */
  | { readonly type: 'unknown'; readonly name: string; readonly url: string | undefined; readonly isCacheBreak: boolean };

/** Returns message content as parts. Plain text becomes one part, `null` none. */
export function readParts(content: unknown): readonly Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content, isCacheBreak: false }];
  return Array.isArray(content) ? content.filter(isObject).map(readPart) : [];
}

/** Returns the parts of a message. A cache mark on the message itself moves to its last part. */
export function readMarkedParts(message: JsonObject): readonly Part[] {
  const parts = readParts(message['content']);
  const last = parts.at(-1);
  return last === undefined || !isMarked(message) ? parts : [...parts.slice(0, -1), { ...last, isCacheBreak: true }];
}

/** True when the prompt up to here is to be cached. */
export function isMarked(holder: JsonObject): boolean {
  return CACHE_MARKS.some((mark) => isObject(holder[mark]));
}

/** Returns the text of a message and ignores its other parts. */
export function readText(content: unknown): string {
  return readParts(content)
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('');
}

/** Parses media inlined in the request: `data:image/png;base64,...`. */
export function parseDataUrl(url: string): { readonly mediaType: string; readonly data: string } | undefined {
  const comma = url.indexOf(',');
  const match = /^data:([^;,]+)(?:;[^;,]+)*;base64$/i.exec(comma < 0 ? '' : url.slice(0, comma));
  return match?.[1] === undefined ? undefined : { mediaType: match[1].toLowerCase(), data: url.slice(comma + 1) };
}

/** Enough of a file to recognise it, in base64. */
const BEGINNING_CHARACTERS = 24;

/**
 * Parses an inline image. Clients mislabel images, and some providers refuse one that is not what its label says, so the
 * first bytes decide where they are known.
 */
export function parseImageUrl(url: string): ReturnType<typeof parseDataUrl> {
  const inline = parseDataUrl(url);
  if (inline === undefined) return undefined;
  const beginning = Buffer.from(inline.data.slice(0, BEGINNING_CHARACTERS), 'base64');
  return { ...inline, mediaType: recogniseMedia(beginning, ['image']) ?? inline.mediaType };
}

/** A tool call of an earlier answer, as sent back by the caller. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
}

/** Reads the tool calls of an assistant message. A custom tool, whose input is free text, is read as a function with a single field. */
export function readToolCalls(message: JsonObject): readonly ToolCall[] {
  const calls = objectsOf(message['tool_calls']);
  return calls.map((call) => {
    const called = isObject(call['function']) ? call['function'] : objectOf(call['custom']);
    const input = 'input' in called ? { input: called['input'] } : parseArguments(called['arguments']);
    return { id: String(call['id']), name: String(called['name']), input };
  });
}

/** Maps each tool-call id to its function name: tool messages carry only the id, and some providers want the name. */
export function namesOfToolCalls(chat: ChatRequest): ReadonlyMap<string, string> {
  return new Map(chat.messages.flatMap(readToolCalls).map(({ id, name }) => [id, name]));
}

/** Returns the names of all functions called so far. Ids do not tell: some clients use one for several calls. */
export function calledNames({ messages }: ChatRequest): ReadonlySet<string> {
  return new Set(messages.flatMap(readToolCalls).map(({ name }) => name));
}

function readPart(part: JsonObject): Part {
  const isCacheBreak = isMarked(part);
  switch (part['type']) {
    case 'text':
      return { type: 'text', text: textOf(part['text']), isCacheBreak };
    case 'refusal':
      return { type: 'text', text: textOf(part['refusal']), isCacheBreak };
    case 'image_url': {
      const image = part['image_url'];
      return { type: 'image', url: optionalText(isObject(image) ? image['url'] : image) ?? '', isCacheBreak };
    }
    case 'input_audio': {
      const audio = objectOf(part['input_audio']);
      return { type: 'audio', data: textOf(audio['data']), format: optionalText(audio['format']) ?? 'wav', isCacheBreak };
    }
    case 'file': {
      const file = objectOf(part['file']);
      return {
        type: 'file',
        name: optionalText(file['filename']),
        url: optionalText(file['file_data']),
        id: optionalText(file['file_id']),
        isCacheBreak,
      };
    }
    default: {
      const name = String(part['type']);
      const media = part[name];
      return { type: 'unknown', name, url: optionalText(isObject(media) ? media['url'] : media), isCacheBreak };
    }
  }
}

/**
 * Parses tool arguments: JSON text, which a model may have left empty or broken. Deeply nested JSON counts as broken,
 * because it has to be serialised again.
 */
function parseArguments(text: unknown): JsonObject {
  if (typeof text !== 'string' || text.trim() === '') return {};
  if (isNestedTooDeep(text)) return { value: text };
  try {
    const value = parseExact(text);
    return isObject(value) ? value : { value };
  } catch {
    return { value: text };
  }
}

function optionalText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
