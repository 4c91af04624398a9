import { compact, readChoice, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** Search parameters: the model, whether the answer streams, and the language of the code. */
export interface PlaygroundSearch {
  readonly model?: string;
  /** Streams unless set to `no`. */
  readonly stream?: 'no';
  readonly snippet?: string;
}

/** Reads the page's search parameters. Invalid ones are left out. */
export function readPlaygroundSearch(raw: RawSearch): PlaygroundSearch {
  return compact({ model: readText(raw, 'model'), stream: readChoice(raw, 'stream', ['no']), snippet: readText(raw, 'snippet') });
}
