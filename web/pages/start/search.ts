import { compact, readChoice, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** Search parameters: the example and model shown, and whether the completed checklist stays open. */
export interface StartSearch {
  readonly snippet?: string;
  readonly model?: string;
  readonly steps?: 'open';
}

/** Reads the page's search parameters. Invalid ones are left out. */
export function readStartSearch(raw: RawSearch): StartSearch {
  return compact({ snippet: readText(raw, 'snippet'), model: readText(raw, 'model'), steps: readChoice(raw, 'steps', ['open']) });
}
