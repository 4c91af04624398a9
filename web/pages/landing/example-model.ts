import { useQuery } from '@tanstack/react-query';
import { modelsQuery } from '../../queries.ts';
import type { ListedModel } from '../../queries.ts';

/** Returns a model for examples: the first real one of the price list, or a built-in one if there are no others. */
export function useExampleModel(): ListedModel | undefined {
  const { data: list } = useQuery(modelsQuery);
  return list?.models.find(({ provider }) => provider !== 'sandbox') ?? list?.models[0];
}
