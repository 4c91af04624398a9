import { objectsOf, textOf, type JsonObject } from '../../openai/types.ts';
import { writeCitation } from '../write-answer.ts';
import type { Block } from './draft.ts';

/**
 * Returns the pages that a text block cites, for the span of the answer the block covers. Locations in the caller's own
 * documents are not pages.
 */
export function decodeCitations({ citations, text }: Block, start: number): JsonObject[] {
  const end = start + textOf(text).length;
  return objectsOf(citations).flatMap(({ url, source, title }) => {
    // A search result supplied by the caller names its source, which may be anything.
    const address = textOf(url ?? source);
    return /^https?:/i.test(address) ? [writeCitation({ url: address, title: textOf(title), start, end })] : [];
  });
}
