import { objectOf, objectsOf, textOf, type JsonObject } from '../../openai/types.ts';
import { writeCitation } from '../write-answer.ts';

/** A span of the answer, in characters. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** Returns the pages that a block cites, for the span its text covers. Locations in the caller's own documents are not pages. */
export function decodeCitations(cited: unknown, span: Span): JsonObject[] {
  const citations = objectsOf(objectOf(cited)['citations']);
  return citations.flatMap(({ title, location }) => {
    const web = objectOf(objectOf(location)['web']);
    const { url } = web;
    return typeof url === 'string' ? [writeCitation({ url, title: textOf(title), ...span })] : [];
  });
}
