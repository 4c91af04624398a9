import { Buffer } from 'node:buffer';
import { isObject, type ChatRequest, type JsonObject } from '../openai/types.ts';
import { countPdfPages } from './pdf-pages.ts';

/** An allowance for each image, and for each sound or text that is in the request, where its bytes count as well. */
const MEDIA_TOKENS_MAX = 20_000;
/** A page is read as its text, for which providers name up to 3,000 tokens, and as a picture of up to about 4,800. */
const PAGE_TOKENS_MAX = 8000;
/** Parts whose content may be a book, a recording or a film. */
const LONG_MEDIA: ReadonlySet<string> = new Set(['file', 'audio_url', 'video_url', 'document_url']);
/** Files whose bytes bound what is in them: a token of text has one at least. */
const PLAIN = /^data:(?:text\/|image\/|audio\/|application\/(?:json|xml)[;,])/iu;
const PDF = /^(?:data:application\/pdf[;,]|JVBERi)/iu;

/**
 * More tokens than the parts of a request that are not text can be read as, beside the bytes that they have in it. Infinite where
 * nobody can tell: then the model's context is the bound.
 */
export function mediaTokensMax(chat: ChatRequest): number {
  // What a search finds is read as input, as much as there is room for.
  if (chat['web_search_options'] !== undefined) return Number.POSITIVE_INFINITY;
  let tokens = 0;
  for (const { content } of chat.messages) {
    if (!Array.isArray(content)) continue;
    for (const part of content) if (isObject(part) && part['type'] !== 'text') tokens += partTokensMax(part);
  }
  return tokens;
}

function partTokensMax(part: JsonObject): number {
  const type = String(part['type']);
  if (!LONG_MEDIA.has(type)) return MEDIA_TOKENS_MAX;
  const source = sourceOf(part[type]);
  // Long media that is somewhere else, and films: a minute in which nothing moves has many tokens and hardly a byte.
  if (source === undefined || type === 'video_url') return Number.POSITIVE_INFINITY;
  if (type === 'audio_url') return isAddress(source) ? Number.POSITIVE_INFINITY : MEDIA_TOKENS_MAX;
  return fileTokensMax(source);
}

/** What a file is given by; undefined for one that is known by its id. */
function sourceOf(media: unknown): string | undefined {
  const source = isObject(media) ? (media['file_data'] ?? media['url']) : media;
  return typeof source === 'string' ? source : undefined;
}

/** Pages that say next to nothing are as dear as others, and office documents are packed: their bytes bound nothing. */
function fileTokensMax(source: string): number {
  if (PLAIN.test(source)) return MEDIA_TOKENS_MAX;
  const pages = PDF.test(source) ? countPdfPages(Buffer.from(source.slice(source.indexOf(',') + 1), 'base64')) : undefined;
  return pages === undefined ? Number.POSITIVE_INFINITY : Math.max(MEDIA_TOKENS_MAX, pages * PAGE_TOKENS_MAX);
}

function isAddress(source: string): boolean {
  return /^(?!data:)[a-z][a-z\d+.-]*:/iu.test(source);
}
