import type { ListedModel } from '../../queries.ts';

/** The model for a test: the cheapest, which is a built-in one wherever those are switched on. */
export function cheapest(models: readonly ListedModel[]): ListedModel | undefined {
  const builtIn = models.filter(({ provider }) => provider === 'sandbox');
  return (builtIn.length > 0 ? builtIn : models).toSorted((first, second) => sumOf(first) - sumOf(second))[0];
}

function sumOf({ price: { input, output } }: ListedModel): number {
  return Number(input) + Number(output);
}
