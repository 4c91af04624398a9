import { Buffer } from 'node:buffer';
import { parseDataUrl, type Part } from '../content.ts';
import { refuse, type Block } from './draft.ts';

/** Where a part stands, and whether addresses may be sent. */
export interface PartContext {
  readonly param: string;
  readonly takesUrls: boolean;
}

/** The marker that lets the provider keep everything up to here. It lives five minutes: an hour has another price. */
export const CACHE_BREAK = { cache_control: { type: 'ephemeral' } } as const;

/** Encodes one part of a user's message or of a tool's result; blank text, which is refused, gives nothing. */
export function encodePart(part: Part, context: PartContext): Block[] {
  switch (part.type) {
    case 'text':
      return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text, ...(part.isCacheBreak ? CACHE_BREAK : {}) }];
    case 'image':
      return [{ type: 'image', source: encodeImage(part.url, context), ...(part.isCacheBreak ? CACHE_BREAK : {}) }];
    case 'file':
      return [{ ...encodeFile(part, context), ...(part.isCacheBreak ? CACHE_BREAK : {}) }];
    case 'audio':
      throw refuse(context.param, 'This model cannot hear: audio must be sent to a model that takes it, or as its transcript.');
    case 'unknown':
      throw refuse(context.param, `Content of type '${part.name}' cannot be sent to this model.`);
  }
}

const IMAGE_TYPES = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

function encodeImage(url: string, context: PartContext): Block {
  const inline = parseDataUrl(url);
  if (inline === undefined) return encodeAddress(url, context);
  const mediaType = inline.mediaType === 'image/jpg' ? 'image/jpeg' : inline.mediaType;
  if (!IMAGE_TYPES.has(mediaType))
    throw refuse(context.param, `Images of type '${mediaType}' are not understood; send JPEG, PNG, GIF or WebP.`);
  return { type: 'base64', media_type: mediaType, data: inline.data };
}

function encodeAddress(url: string, { param, takesUrls }: PartContext): Block {
  if (!takesUrls) throw refuse(param, 'This model takes no addresses: send the content itself as a base64 data URL.');
  if (!url.startsWith('https://')) throw refuse(param, 'Only https:// addresses and base64 data URLs can be sent to this model.');
  return { type: 'url', url };
}

function encodeFile(part: Extract<Part, { type: 'file' }>, context: PartContext): Block {
  const { url, name } = part;
  // Files kept at the provider belong to our account there, so an id would open other callers' files.
  if (url === undefined) throw refuse(context.param, "Files must be sent as 'file_data'; ids of uploaded files are not known here.");
  const inline = parseDataUrl(url) ?? (url.startsWith(PDF_BASE64) ? { mediaType: 'application/pdf', data: url } : undefined);
  if (inline?.mediaType.startsWith('image/') === true) return { type: 'image', source: encodeImage(url, context) };
  const source = inline === undefined ? encodeAddress(url, context) : encodeDocument(inline, context);
  return { type: 'document', source, ...(name === undefined || name === '' ? {} : { title: name }) };
}

/** How every PDF begins, for clients that send the bare base64. */
const PDF_BASE64 = 'JVBERi';

function encodeDocument({ mediaType, data }: { mediaType: string; data: string }, { param }: PartContext): Block {
  if (mediaType === 'application/pdf') return { type: 'base64', media_type: mediaType, data };
  if (mediaType.startsWith('text/') || mediaType === 'application/json')
    return { type: 'text', media_type: 'text/plain', data: Buffer.from(data, 'base64').toString('utf8') };
  throw refuse(param, `Files of type '${mediaType}' are not understood; send a PDF or text.`);
}
