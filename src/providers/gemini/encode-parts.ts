import type { JsonObject } from '../../openai/types.ts';
import { parseDataUrl, readParts, type Part } from '../content.ts';
import { refusal } from '../dialect.ts';

/** Encodes message content as Google's parts. Empty parts are refused, so they are left out. */
export function encodeParts(content: unknown, param: string): readonly JsonObject[] {
  return readParts(content).flatMap((part, index) => encodePart(part, `${param}[${index}]`));
}

function encodePart(part: Part, param: string): readonly JsonObject[] {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [{ text: part.text }];
    case 'image':
      return [encodeMedia(part.url, param)];
    case 'audio':
      return [{ inlineData: { mimeType: normaliseType(`audio/${part.format}`), data: part.data } }];
    case 'file':
      if (part.url === undefined) throw refusal(param, "This model does not accept file ids. Send the file itself as 'file_data'.");
      return [encodeMedia(part.url, param)];
    case 'unknown':
      if (part.url === undefined) throw refusal(param, 'This model does not accept content of this type.');
      return [encodeMedia(part.url, param)];
  }
}

/** Encodes media. Google fetches only YouTube videos. Files in its stores would be the operator's, not the caller's. */
function encodeMedia(url: string, param: string): JsonObject {
  const inline = parseDataUrl(url);
  if (inline !== undefined) return { inlineData: { mimeType: normaliseType(inline.mediaType), data: inline.data } };
  if (isYoutubeVideo(url)) return { fileData: { fileUri: url } };
  throw refusal(param, 'This model cannot fetch media from that URL. Send it as a data URL.');
}

/** True for media that Google's models fetch themselves. */
export function isYoutubeVideo(url: string): boolean {
  return YOUTUBE.test(url);
}

const YOUTUBE = /^https:\/\/(?:(?:www\.|m\.)?youtube\.com\/(?:watch\?|shorts\/|live\/)|youtu\.be\/)/;

/** Media types that clients use and Google refuses, with their accepted spelling. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['image/jpg', 'image/jpeg'],
  ['audio/x-wav', 'audio/wav'],
  ['audio/wave', 'audio/wav'],
  ['audio/mpeg', 'audio/mp3'],
  ['audio/x-m4a', 'audio/m4a'],
]);

function normaliseType(mediaType: string): string {
  return TYPES.get(mediaType) ?? mediaType;
}
