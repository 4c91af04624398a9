import { isObject, type JsonObject } from '../../openai/types.ts';
import { writeCitation } from '../envelope.ts';

/** A stretch of the answer, in characters. */
interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** The pages that a block cites, for the stretch that its text takes. Places in documents of the caller are no pages. */
export function decodeCitations(cited: unknown, stretch: Stretch): JsonObject[] {
  const citations = isObject(cited) && Array.isArray(cited['citations']) ? cited['citations'].filter(isObject) : [];
  return citations.flatMap(({ title, location }) => {
    const web = isObject(location) && isObject(location['web']) ? location['web'] : {};
    const { url } = web;
    return typeof url === 'string' ? [writeCitation({ url, title: typeof title === 'string' ? title : '', ...stretch })] : [];
  });
}
