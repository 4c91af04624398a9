import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, call } from '../../../api.ts';
import type { ResponseBody } from '../../../api.ts';

const { models } = api.admin;

/** The full price list, with what was charged on the last seven days of a time zone. */
export const priceListQuery = (zone: string) =>
  queryOptions({
    queryKey: ['admin', 'models', 'list', zone],
    queryFn: () => call(models.$get({ query: { zone } })),
    placeholderData: keepPreviousData,
  });

/** A model with its prices and their source. */
export type PricedModel = ResponseBody<typeof models.$get>['models'][number];

/** Price history of a model. */
export const modelQuery = (id: string) =>
  queryOptions({ queryKey: ['admin', 'models', 'one', id], queryFn: () => call(models.one.$get({ query: { id } })) });

/** Prices as typed. Those for long prompts exist only if the model has them. */
export interface TypedPrices {
  readonly input: string;
  readonly cachedInput: string;
  readonly cacheWrite: string;
  readonly output: string;
  readonly longInput?: string;
  readonly longCachedInput?: string;
  readonly longCacheWrite?: string;
  readonly longOutput?: string;
}

/** Revenue that other prices would have brought. */
export const previewQuery = (id: string, zone: string, prices: TypedPrices) =>
  queryOptions({
    queryKey: ['admin', 'models', 'preview', id, zone, prices],
    queryFn: () => call(models.preview.$get({ query: { id, zone, ...prices } })),
    placeholderData: keepPreviousData,
    retry: false,
  });

/** What the last week would have cost at other prices. */
export type Previewed = ResponseBody<typeof models.preview.$get>;

/** Checks how a piece of tollgate.yaml would change the price list. */
export const checkYaml = (text: string) => call(models.check.$post({ json: { text } }));

/** The result of checking a settings file. */
export type Checked = ResponseBody<typeof models.check.$post>;
