import { Buffer } from 'node:buffer';
import { parseDataUrl, parseImageUrl, type Part } from '../content.ts';
import { refusal } from '../dialect.ts';
import type { Block } from './draft.ts';

/** The position of a part in the request, and whether URLs are accepted. */
export interface PartContext {
  readonly param: string;
  readonly takesUrls: boolean;
}

/** The mark that caches everything up to here. It lasts five minutes: an hour has another price. */
export const CACHE_BREAK = { cache_control: { type: 'ephemeral' } } as const;

/** Encodes one part of a user message or a tool result. Blank text, which the provider refuses, is left out. */
export function encodePart(part: Part, context: PartContext): Block[] {
  switch (part.type) {
    case 'text':
      return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text, ...(part.isCacheBreak ? CACHE_BREAK : {}) }];
    case 'image':
      return [{ type: 'image', source: encodeImage(part.url, context), ...(part.isCacheBreak ? CACHE_BREAK : {}) }];
    case 'file':
      return [{ ...encodeFile(part, context), ...(part.isCacheBreak ? CACHE_BREAK : {}) }];
    case 'audio':
      throw refusal(context.param, 'This model does not accept audio. Send a transcript, or choose a model that accepts audio.');
    case 'unknown':
      throw refusal(context.param, `Content of type '${part.name}' cannot be sent to this model.`);
  }
}

const IMAGE_TYPES = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

function encodeImage(url: string, context: PartContext): Block {
  const inline = parseImageUrl(url);
  if (inline === undefined) return encodeAddress(url, context);
  const mediaType = inline.mediaType === 'image/jpg' ? 'image/jpeg' : inline.mediaType;
  if (!IMAGE_TYPES.has(mediaType))
    throw refusal(context.param, `Images of type '${mediaType}' are not supported. Send JPEG, PNG, GIF or WebP.`);
  return { type: 'base64', media_type: mediaType, data: inline.data };
}

function encodeAddress(url: string, { param, takesUrls }: PartContext): Block {
  if (!takesUrls) throw refusal(param, 'This model does not accept URLs. Send the content itself as a base64 data URL.');
  if (!url.startsWith('https://')) throw refusal(param, 'This model accepts only https:// URLs and base64 data URLs.');
  return { type: 'url', url };
}

function encodeFile(part: Extract<Part, { type: 'file' }>, context: PartContext): Block {
  const { url, name } = part;
  // Files stored at the provider belong to the operator's account there, so an id could open other callers' files.
  if (url === undefined) throw refusal(context.param, "Send files as 'file_data'. Ids of uploaded files are not supported.");
  const inline = parseDataUrl(url) ?? (url.startsWith(PDF_BASE64) ? { mediaType: 'application/pdf', data: url } : undefined);
  if (inline?.mediaType.startsWith('image/') === true) return { type: 'image', source: encodeImage(url, context) };
  const source = inline === undefined ? encodeAddress(url, context) : encodeDocument(inline, context);
  return { type: 'document', source, ...(name === undefined || name === '' ? {} : { title: name }) };
}

/** The first characters of every PDF in base64, for clients that send it without a data URL. */
const PDF_BASE64 = 'JVBERi';

function encodeDocument({ mediaType, data }: { mediaType: string; data: string }, { param }: PartContext): Block {
  if (mediaType === 'application/pdf') return { type: 'base64', media_type: mediaType, data };
  if (mediaType.startsWith('text/') || mediaType === 'application/json')
    return { type: 'text', media_type: 'text/plain', data: Buffer.from(data, 'base64').toString('utf8') };
  throw refusal(param, `Files of type '${mediaType}' are not supported. Send a PDF or text.`);
}
