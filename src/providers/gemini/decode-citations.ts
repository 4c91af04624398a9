import { Buffer } from 'node:buffer';
import { objectOf, objectsOf, type JsonObject } from '../../openai/types.ts';
import { writeCitation } from '../envelope.ts';

/** A page that the answer is founded on, and the stretch of the answer that it stands behind, where that is told. */
export interface Citation {
  readonly url: string;
  readonly title: string;
  readonly segment: JsonObject | undefined;
}

/**
 * The pages that a candidate cites: those of a search, and those that it recites. Where it is not told what a found page
 * stands behind, that is the answer as a whole, which is known at its end.
 */
export function readCitations(candidate: JsonObject, isEnd: boolean): readonly Citation[] {
  const grounding = objectOf(candidate['groundingMetadata']);
  const sources = objectsOf(grounding['groundingChunks']).map(readSource);
  const supports = objectsOf(grounding['groundingSupports']);
  const found = supports.flatMap(({ segment, groundingChunkIndices: places }) =>
    (Array.isArray(places) ? places : []).flatMap((place) => cite(sources[Number(place)], objectOf(segment))),
  );
  const loose = supports.length === 0 && isEnd ? sources.flatMap((source) => cite(source, undefined)) : [];
  const metadata = objectOf(candidate['citationMetadata']);
  const recited = objectsOf(metadata['citationSources'] ?? metadata['citations']).flatMap((source) => cite(source, source));
  return [...found, ...loose, ...recited];
}

/** The citations as the caller reads them, in an answer that says this behind so many characters that were told before. */
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
  return typeof uri === 'string' && uri !== '' ? [{ url: uri, title: typeof title === 'string' ? title : '', segment }] : [];
}

/** Google counts bytes, and in one part of several: the words themselves, where they are told, have the last say. */
function locate(segment: JsonObject | undefined, content: string): { readonly start: number; readonly end: number } {
  const { startIndex = 0, endIndex, text } = segment ?? {};
  const whole = { start: 0, end: content.length };
  const bytes = Buffer.from(content, 'utf8');
  const indexAt = (offset: unknown): number => bytes.subarray(0, Math.max(0, Number(offset))).toString('utf8').length;
  const told = typeof endIndex === 'number' ? { start: indexAt(startIndex), end: indexAt(endIndex) } : whole;
  if (typeof text !== 'string' || text === '' || content.slice(told.start, told.end) === text) return told;
  const start = content.indexOf(text);
  return start === -1 ? told : { start, end: start + text.length };
}
