import { isObject, type JsonObject } from '../../openai/types.ts';
import { writeCitation } from '../envelope.ts';

/** A span of the answer, in characters. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** Returns the pages that a block cites, for the span its text covers. Locations in the caller's own documents are not pages. */
export function decodeCitations(cited: unknown, span: Span): JsonObject[] {
  const citations = isObject(cited) && Array.isArray(cited['citations']) ? cited['citations'].filter(isObject) : [];
  return citations.flatMap(({ title, location }) => {
    const web = isObject(location) && isObject(location['web']) ? location['web'] : {};
    const { url } = web;
    return typeof url === 'string' ? [writeCitation({ url, title: typeof title === 'string' ? title : '', ...span })] : [];
  });
}
