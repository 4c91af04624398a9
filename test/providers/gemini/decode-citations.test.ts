import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../../src/openai/types.ts';
import { readCitations, writeAnnotations } from '../../../src/providers/gemini/decode-citations.ts';

const CONTENT = 'é ☕ one two one';
const WEB = { web: { uri: 'https://a.example', title: 'A' } };
const support = (segment: unknown, ...places: readonly unknown[]): JsonObject => ({ segment, groundingChunkIndices: places });
const grounded = (groundingChunks: unknown, groundingSupports?: unknown): JsonObject => ({
  groundingMetadata: { groundingChunks, ...(groundingSupports === undefined ? {} : { groundingSupports }) },
});
const cited = (start_index: number, end_index: number, url = 'https://a.example', title = 'A'): JsonObject => ({
  type: 'url_citation',
  url_citation: { start_index, end_index, url, title },
});

describe('citations', () => {
  test.each<[string, JsonObject, readonly JsonObject[]]>([
    ['by byte offsets', grounded([WEB], [support({ startIndex: 7, endIndex: 10 }, 0)]), [cited(4, 7)]],
    ['from the start, which is omitted', grounded([WEB], [support({ endIndex: 2 }, 0)]), [cited(0, 1)]],
    [
      'by quoted text that is elsewhere than the offsets say',
      grounded([WEB], [support({ startIndex: 4, endIndex: 7, text: 'two' }, 0)]),
      [cited(8, 11)],
    ],
    ['by quoted text that does not appear', grounded([WEB], [support({ startIndex: 7, endIndex: 10, text: 'three' }, 0)]), [cited(4, 7)]],
    [
      'of several pages',
      grounded([WEB, { maps: { uri: 'https://m.example' } }], [support({ endIndex: 2 }, 0, 1)]),
      [cited(0, 1), cited(0, 1, 'https://m.example', '')],
    ],
    [
      'of retrieved context',
      grounded([{ retrievedContext: { uri: 'https://c.example', title: 'C' } }], [support({}, 0)]),
      [cited(0, 15, 'https://c.example', 'C')],
    ],
    ['of the answer as a whole', grounded([WEB]), [cited(0, 15)]],
    ['of missing pages', grounded([{ web: {} }, {}, WEB, 'x'], [support({ endIndex: 2 }, 0, 1, 9, 'x'), support(null), 'x']), []],
    ['of something that is not a list', grounded('x', 'y'), []],
    [
      'of recited sources',
      { citationMetadata: { citationSources: [{ startIndex: 7, endIndex: 10, uri: 'https://r.example' }] } },
      [cited(4, 7, 'https://r.example', '')],
    ],
    [
      'of recited sources on Vertex',
      { citationMetadata: { citations: [{ endIndex: 2, uri: 'https://r.example', title: 'R' }] } },
      [cited(0, 1, 'https://r.example', 'R')],
    ],
    ['that are absent', {}, []],
  ])('%s', (_, candidate, expected) => {
    expect(writeAnnotations(readCitations(candidate, true), CONTENT, 0)).toEqual([...expected]);
  });

  test('of the whole answer wait for its end', () => {
    expect(readCitations(grounded([WEB]), false)).toEqual([]);
  });

  test('continue the offsets of the text before the answer broke off', () => {
    expect(writeAnnotations(readCitations(grounded([WEB]), true), 'abc', 10)).toEqual([cited(10, 13)]);
  });
});
