import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { isObject, type JsonObject } from '../../src/openai/types.ts';
import { expectChat, expectChatStream } from './expect-chat.ts';
import { expectConverse, expectConverseStream } from './expect-converse.ts';
import { expectGenerateContent, expectGenerateContentStream } from './expect-generate-content.ts';
import { expectMessages, expectMessagesStream } from './expect-messages.ts';
import type { Expected } from './expected.ts';

/** A recorded response of a provider, and its contents. */
export interface Recording {
  readonly path: string;
  /** File name without the extension. */
  readonly name: string;
  readonly framing: Framing;
  readonly isStream: boolean;
  readonly body: string;
  readonly events: readonly JsonObject[];
  readonly expected: Expected;
}

type Framing = 'chat' | 'messages' | 'generate-content' | 'converse';

/** A file that could not be read as a recording. A file that is not a chat response is skipped; a broken one is a failure. */
export interface Unread {
  readonly path: string;
  readonly reason: string;
  readonly isBroken: boolean;
}

/** Reads every recording in a folder: `name.json` is a whole response, `name.chunks.txt` has one event per line. */
export function readRecordings(folder: string): (Recording | Unread)[] {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:json|chunks\.txt)$/u.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  return paths.toSorted().map((path) => readRecording(folder, path));
}

function readRecording(folder: string, path: string): Recording | Unread {
  const place = relative(folder, path);
  try {
    const values = parseValues(readFileSync(path, 'utf8'), path.endsWith('.json'));
    // Google's stream without `alt=sse` is one list.
    const isStream = !path.endsWith('.json') || values.length !== 1;
    const framing = values.some(isOtherApi) ? undefined : (framingOf(values) ?? FOLDERS[basename(dirname(path))]);
    if (framing === undefined) return { path: place, reason: 'is no chat answer', isBroken: false };
    const expected = isStream ? READERS[framing].stream(values) : READERS[framing].whole(values[0] ?? {});
    const name = basename(path).replace(/\.(?:json|chunks\.txt)$/u, '');
    return { path: place, name, framing, isStream, body: JSON.stringify(values[0] ?? {}), events: values, expected };
  } catch (error) {
    return { path: place, reason: `cannot be read: ${(error as Error).message}`, isBroken: true };
  }
}

/** Reads the JSON values of a file. Ignores event-stream framing and other lines around the data. */
function parseValues(text: string, isWhole: boolean): JsonObject[] {
  const plain = text.replace(/^\uFEFF/u, '').trim();
  if (isWhole) {
    const value: unknown = JSON.parse(plain);
    return (Array.isArray(value) ? value : [value]).filter(isObject);
  }
  const lines = plain.split(/\r?\n/u).map((line) => line.trim().replace(/^data:\s*/u, ''));
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as JsonObject);
}

const FOLDERS: Readonly<Record<string, Framing>> = {
  anthropic: 'messages',
  bedrock: 'converse',
  gemini: 'generate-content',
  'openai-compatible': 'chat',
};

const CONVERSE_EVENTS = ['messageStart', 'contentBlockStart', 'contentBlockDelta', 'contentBlockStop', 'messageStop', 'metadata'];
const MESSAGES_EVENTS = new Set(['message', 'message_start', 'content_block_start', 'message_delta', 'error']);

/** Detects the dialect from the first value that is not an error, since folder names are not reliable. */
function framingOf(values: readonly JsonObject[]): Framing | undefined {
  for (const value of values) {
    if (Array.isArray(value['choices'])) return 'chat';
    if ('candidates' in value || 'promptFeedback' in value || 'usageMetadata' in value) return 'generate-content';
    if (isObject(value['output']) && 'message' in value['output']) return 'converse';
    if (CONVERSE_EVENTS.some((name) => isObject(value[name]))) return 'converse';
    if (MESSAGES_EVENTS.has(String(value['type']))) return 'messages';
  }
  return undefined;
}

/** Detects OpenAI's Responses API, whose recordings may be in the same folder. */
function isOtherApi({ object, type }: JsonObject): boolean {
  return object === 'response' || String(type).startsWith('response.');
}

const READERS: Readonly<Record<Framing, { whole(body: JsonObject): Expected; stream(events: readonly JsonObject[]): Expected }>> = {
  chat: { whole: expectChat, stream: expectChatStream },
  messages: { whole: expectMessages, stream: expectMessagesStream },
  'generate-content': { whole: expectGenerateContent, stream: expectGenerateContentStream },
  converse: { whole: expectConverse, stream: expectConverseStream },
};
