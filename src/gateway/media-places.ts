import { isObject, type ChatRequest, type JsonObject } from '../openai/types.ts';
import type { MediaKind } from '../providers/media-types.ts';

/** A place in a request where media is given by URL. */
export interface MediaPlace {
  readonly messageIndex: number;
  readonly partIndex: number;
  readonly url: string;
  /** The kinds of media allowed there. */
  readonly kinds: readonly MediaKind[];
  /** The field, as the client spells it. */
  readonly param: string;
}

/** The parts that carry media: the field of each that holds the URL, and the kinds it may lead to. */
const FORMS: ReadonlyMap<unknown, { readonly key: string; readonly kinds: readonly MediaKind[] }> = new Map([
  ['image_url', { key: 'url', kinds: ['image'] }],
  ['audio_url', { key: 'url', kinds: ['audio'] }],
  ['video_url', { key: 'url', kinds: ['video'] }],
  ['document_url', { key: 'url', kinds: ['document'] }],
  ['file', { key: 'file_data', kinds: ['document', 'image', 'audio', 'video'] }],
]);
const ADDRESS = /^https?:/i;

/** Finds the media that a request gives by web URL. Other schemes are left for the provider's dialect to refuse. */
export function findMedia(chat: ChatRequest, fetchesItself?: (url: string) => boolean): readonly MediaPlace[] {
  const places: MediaPlace[] = [];
  chat.messages.forEach(({ content }, messageIndex) => {
    if (!Array.isArray(content)) return;
    content.forEach((part: unknown, partIndex) => {
      const found = isObject(part) ? readPart(part) : undefined;
      if (found === undefined || fetchesItself?.(found.url) === true) return;
      places.push({ ...found, messageIndex, partIndex, param: `messages[${messageIndex}].content[${partIndex}].${found.param}` });
    });
  });
  return places;
}

function readPart(part: JsonObject): Pick<MediaPlace, 'url' | 'kinds' | 'param'> | undefined {
  const { type } = part;
  const entry = FORMS.get(type);
  if (entry === undefined) return undefined;
  const media = part[String(type)];
  // Some clients send the bare URL instead of an object around it.
  const url = isObject(media) ? media[entry.key] : media;
  if (typeof url !== 'string' || !ADDRESS.test(url)) return undefined;
  return { url, kinds: entry.kinds, param: isObject(media) ? `${String(type)}.${entry.key}` : String(type) };
}

/** Returns a copy of the request with other URLs in these places. Messages without media are not copied. */
export function replaceMedia(chat: ChatRequest, urls: ReadonlyMap<MediaPlace, string>): ChatRequest {
  const messages = [...chat.messages];
  for (const [{ messageIndex, partIndex }, url] of urls) {
    const message = messages[messageIndex];
    const part: unknown = Array.isArray(message?.['content']) ? message['content'][partIndex] : undefined;
    if (message === undefined || !isObject(part)) continue;
    const content = (message['content'] as unknown[]).with(partIndex, replaceUrl(part, url));
    messages[messageIndex] = { ...message, content };
  }
  return { ...chat, messages };
}

function replaceUrl(part: JsonObject, url: string): JsonObject {
  const name = String(part['type']);
  const media = part[name];
  const key = FORMS.get(name)?.key ?? 'url';
  return { ...part, [name]: isObject(media) ? { ...media, [key]: url } : url };
}
