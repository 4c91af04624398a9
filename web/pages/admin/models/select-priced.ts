import { readSort } from '../../models/select-models.ts';
import type { PricedModel } from './queries.ts';
import type { AdminModelsSearch } from './search.ts';

/** Filters and sorts the models as the URL says. */
export function selectPriced(models: readonly PricedModel[], { q = '', provider, list, sort }: AdminModelsSearch): readonly PricedModel[] {
  const words = q.toLowerCase().split(/\s+/u);
  const matching = models.filter(
    (model) =>
      words.every((word) => `${model.id} ${model.name}`.toLowerCase().includes(word)) &&
      (provider === undefined || model.provider === provider) &&
      (list === undefined || model.isDifferent),
  );
  const order = readSort(sort);
  const rank = order === undefined ? undefined : RANKS[order.by];
  if (order === undefined || rank === undefined) return matching;
  const sign = order.direction === 'ascending' ? 1 : -1;
  return matching.toSorted((first, second) => {
    const [left, right] = [rank(first), rank(second)];
    return left === right ? 0 : left < right ? -sign : sign;
  });
}

/** Values to sort by. Amounts become numbers only for sorting. */
const RANKS: Readonly<Record<string, (model: PricedModel) => number | string>> = {
  model: ({ id }) => id.toLowerCase(),
  input: ({ price }) => Number(price.input),
  cachedInput: ({ price }) => Number(price.cachedInput),
  cacheWrite: ({ price }) => Number(price.cacheWrite),
  output: ({ price }) => Number(price.output),
  requests: ({ week }) => week.requests,
  charged: ({ week }) => Number(week.usd),
};
