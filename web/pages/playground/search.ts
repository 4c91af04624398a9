import { compact, readChoice, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** The model that is tried, whether its answer is streamed, and the language of the code. */
export interface PlaygroundSearch {
  readonly model?: string;
  /** Streamed, unless it says no. */
  readonly stream?: 'no';
  readonly snippet?: string;
}

export function readPlaygroundSearch(raw: RawSearch): PlaygroundSearch {
  return compact({ model: readText(raw, 'model'), stream: readChoice(raw, 'stream', ['no']), snippet: readText(raw, 'snippet') });
}
