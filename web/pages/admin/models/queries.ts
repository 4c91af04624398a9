import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, call } from '../../../api.ts';
import type { ResponseBody } from '../../../api.ts';

const { models } = api.admin;

/** The whole price list. */
export const priceListQuery = queryOptions({ queryKey: ['admin', 'models'], queryFn: () => call(models.$get()) });

export type PricedModel = ResponseBody<typeof models.$get>['models'][number];

/** All prices that a model had. */
export const modelQuery = (id: string) =>
  queryOptions({ queryKey: ['admin', 'models', id], queryFn: () => call(models.one.$get({ query: { id } })) });

/** Prices as they are typed, those for long prompts only where the model has such. */
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

/** What other prices would have brought in. */
export const previewQuery = (id: string, prices: TypedPrices) =>
  queryOptions({
    queryKey: ['admin', 'models', id, prices],
    queryFn: () => call(models.preview.$get({ query: { id, ...prices } })),
    placeholderData: keepPreviousData,
    retry: false,
  });

export type Previewed = ResponseBody<typeof models.preview.$get>;

/** What a piece of tollgate.yaml would do to the list. */
export const checkYaml = (text: string) => call(models.check.$post({ json: { text } }));

export type Checked = ResponseBody<typeof models.check.$post>;
