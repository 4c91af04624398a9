import { isObject, type ChatRequest, type JsonObject } from '../openai/types.ts';
import type { MediaKind } from './media-types.ts';

/** A place in a request where media is given by its address. */
export interface MediaPlace {
  readonly messageIndex: number;
  readonly partIndex: number;
  readonly url: string;
  /** What may be found there. */
  readonly kinds: readonly MediaKind[];
  /** The field, as the caller spells it. */
  readonly param: string;
}

/** The parts that carry media, the field of each that holds the address, and what it may lead to. */
const FORMS: ReadonlyMap<unknown, { readonly key: string; readonly kinds: readonly MediaKind[] }> = new Map([
  ['image_url', { key: 'url', kinds: ['image'] }],
  ['audio_url', { key: 'url', kinds: ['audio'] }],
  ['video_url', { key: 'url', kinds: ['video'] }],
  ['document_url', { key: 'url', kinds: ['document'] }],
  ['file', { key: 'file_data', kinds: ['document', 'image', 'audio', 'video'] }],
]);
const ADDRESS = /^https?:/i;

/** Where a request gives media by an address of the web. Other schemes are for the provider's dialect to refuse. */
export function findMedia(chat: ChatRequest, isLeftAlone?: (url: string) => boolean): readonly MediaPlace[] {
  const places: MediaPlace[] = [];
  chat.messages.forEach(({ content }, messageIndex) => {
    if (!Array.isArray(content)) return;
    content.forEach((part: unknown, partIndex) => {
      const found = isObject(part) ? readPart(part) : undefined;
      if (found === undefined || isLeftAlone?.(found.url) === true) return;
      places.push({ ...found, messageIndex, partIndex, param: `messages[${messageIndex}].content[${partIndex}].${found.param}` });
    });
  });
  return places;
}

function readPart(part: JsonObject): Pick<MediaPlace, 'url' | 'kinds' | 'param'> | undefined {
  const { type } = part;
  const form = FORMS.get(type);
  if (form === undefined) return undefined;
  const media = part[String(type)];
  // Some clients send the bare address instead of an object around it.
  const url = isObject(media) ? media[form.key] : media;
  if (typeof url !== 'string' || !ADDRESS.test(url)) return undefined;
  return { url, kinds: form.kinds, param: isObject(media) ? `${String(type)}.${form.key}` : String(type) };
}

/** A copy of the request with other addresses in these places. Messages without one are not copied. */
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
