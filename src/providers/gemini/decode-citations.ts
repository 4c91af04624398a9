import { Buffer } from 'node:buffer';
import { objectOf, objectsOf, textOf, type JsonObject } from '../../openai/types.ts';
import { writeCitation } from '../write-answer.ts';

/** A page the answer is based on, and the span of the answer it supports, if known. */
export interface Citation {
  readonly url: string;
  readonly title: string;
  readonly segment: JsonObject | undefined;
}

/**
 * Returns the pages a candidate cites: search results and recited sources. A search result without a known span
 * supports the answer as a whole, which is known only at its end.
 */
export function readCitations(candidate: JsonObject, isEnd: boolean): readonly Citation[] {
  const grounding = objectOf(candidate['groundingMetadata']);
  const sources = objectsOf(grounding['groundingChunks']).map(readSource);
  const supports = objectsOf(grounding['groundingSupports']);
  const found = supports.flatMap(({ segment, groundingChunkIndices: places }) =>
    (Array.isArray(places) ? places : []).flatMap((place) => cite(sources[Number(place)], objectOf(segment))),
  );
  const unplaced = supports.length === 0 && isEnd ? sources.flatMap((source) => cite(source, undefined)) : [];
  const metadata = objectOf(candidate['citationMetadata']);
  const recited = objectsOf(metadata['citationSources'] ?? metadata['citations']).flatMap((source) => cite(source, source));
  return [...found, ...unplaced, ...recited];
}

/** Returns the citations as OpenAI annotations. `content` is the text of this answer, `earlier` the length of the text sent before it. */
export function writeAnnotations(citations: readonly Citation[], content: string, earlier: number): readonly JsonObject[] {
  return citations.map(({ url, title, segment }) => {
    const { start, end } = locate(segment, content);
    return writeCitation({ url, title, start: earlier + start, end: earlier + end });
  });
}

function readSource({ web, retrievedContext, maps }: JsonObject): JsonObject {
  return objectOf(web ?? retrievedContext ?? maps);
}

function cite(source: JsonObject | undefined, segment: JsonObject | undefined): readonly Citation[] {
  const { uri, title } = source ?? {};
  return typeof uri === 'string' && uri !== '' ? [{ url: uri, title: textOf(title), segment }] : [];
}

/**
 * Locates a segment in the text. Google's offsets count bytes within one of several parts, so the quoted text, if
 * present, takes precedence.
 */
function locate(segment: JsonObject | undefined, content: string): { readonly start: number; readonly end: number } {
  const { startIndex = 0, endIndex, text } = segment ?? {};
  const whole = { start: 0, end: content.length };
  const bytes = Buffer.from(content, 'utf8');
  const indexAt = (offset: unknown): number => bytes.subarray(0, Math.max(0, Number(offset))).toString('utf8').length;
  const reported = typeof endIndex === 'number' ? { start: indexAt(startIndex), end: indexAt(endIndex) } : whole;
  if (typeof text !== 'string' || text === '' || content.slice(reported.start, reported.end) === text) return reported;
  const start = content.indexOf(text);
  return start === -1 ? reported : { start, end: start + text.length };
}
