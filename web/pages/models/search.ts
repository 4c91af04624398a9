import { compact, readChoice, readText } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';

/** Capabilities to filter by. */
export const CAPABILITIES = [
  'tools',
  'structured_outputs',
  'reasoning',
  'image',
  'audio',
  'file',
  'video',
  'web_search',
  'logprobs',
] as const;
/** One of these capabilities. */
export type Capability = (typeof CAPABILITIES)[number];

/** Smallest context lengths to filter by, in tokens. */
export const CONTEXTS = ['32000', '128000', '200000', '400000', '1000000'] as const;
/** Highest input prices to filter by, in USD per million tokens. */
export const PRICES = ['0.1', '0.5', '1', '3', '5', '10'] as const;

/** Search parameters: filters, sort order, and the model open in the drawer. */
export interface ModelsSearch {
  readonly q?: string;
  readonly provider?: string;
  readonly can?: Capability;
  readonly context?: (typeof CONTEXTS)[number];
  readonly price?: (typeof PRICES)[number];
  /** Column to sort by, with a leading minus for descending order. */
  readonly sort?: string;
  readonly id?: string;
  readonly snippet?: string;
}

/** Reads the page's search parameters. Invalid ones are left out. */
export function readModelsSearch(raw: RawSearch): ModelsSearch {
  return compact({
    q: readText(raw, 'q'),
    provider: readText(raw, 'provider'),
    can: readChoice(raw, 'can', CAPABILITIES),
    context: readChoice(raw, 'context', CONTEXTS),
    price: readChoice(raw, 'price', PRICES),
    sort: readText(raw, 'sort'),
    id: readText(raw, 'id'),
    snippet: readText(raw, 'snippet'),
  });
}
