import { Buffer } from 'node:buffer';
import { isObject, type ChatRequest, type JsonObject } from '../openai/types.ts';
import { countPdfPages } from './pdf-pages.ts';

/** The allowance for each image, and for each inline sound or text, whose bytes count as well. */
const MEDIA_TOKENS_MAX = 20_000;
/** A page is read as text, for which providers state up to 3,000 tokens, and as a picture of up to about 4,800. */
const PAGE_TOKENS_MAX = 8000;
/** Parts that are text under other names. Their bytes bound their tokens. */
const WORDS: ReadonlySet<unknown> = new Set(['text', 'refusal', 'thinking', 'reasoning']);
/** Parts whose content may be a book, a recording or a film. */
const LONG_MEDIA: ReadonlySet<string> = new Set(['file', 'audio_url', 'video_url', 'document_url']);
/** Files whose size in bytes bounds their tokens: every token of text has at least one byte. */
const PLAIN = /^data:(?:text\/|image\/|audio\/|application\/(?:json|xml)[;,])/iu;
const PDF = /^(?:data:application\/pdf[;,]|JVBERi)/iu;

/**
 * Returns an upper bound on the tokens of the non-text parts of a request, in addition to the bytes they have in it. Infinite where no
 * bound is known: then the model's context length is the bound.
 */
export function mediaTokensMax(chat: ChatRequest): number {
  // Search results are read as input, as many as fit.
  if (chat['web_search_options'] !== undefined) return Number.POSITIVE_INFINITY;
  let tokens = 0;
  for (const { content } of chat.messages) {
    if (!Array.isArray(content)) continue;
    for (const part of content) if (isObject(part) && !WORDS.has(part['type'])) tokens += partTokensMax(part);
  }
  return tokens;
}

function partTokensMax(part: JsonObject): number {
  const type = String(part['type']);
  if (!LONG_MEDIA.has(type)) return MEDIA_TOKENS_MAX;
  const source = sourceOf(part[type]);
  // Long media elsewhere cannot be measured. Nor can films: a minute without motion has many tokens and hardly a byte.
  if (source === undefined || type === 'video_url') return Number.POSITIVE_INFINITY;
  if (type === 'audio_url') return isUrl(source) ? Number.POSITIVE_INFINITY : MEDIA_TOKENS_MAX;
  return fileTokensMax(source);
}

/** Returns the data or URL of a file; undefined for a file referenced by id. */
function sourceOf(media: unknown): string | undefined {
  const source = isObject(media) ? (media['file_data'] ?? media['url']) : media;
  return typeof source === 'string' ? source : undefined;
}

/** Bounds a file by its pages. Nearly empty pages cost as much as others, and office documents are compressed, so bytes bound nothing. */
function fileTokensMax(source: string): number {
  if (PLAIN.test(source)) return MEDIA_TOKENS_MAX;
  const pages = PDF.test(source) ? countPdfPages(Buffer.from(source.slice(source.indexOf(',') + 1), 'base64')) : undefined;
  return pages === undefined ? Number.POSITIVE_INFINITY : Math.max(MEDIA_TOKENS_MAX, pages * PAGE_TOKENS_MAX);
}

function isUrl(source: string): boolean {
  return /^(?!data:)[a-z][a-z\d+.-]*:/iu.test(source);
}
