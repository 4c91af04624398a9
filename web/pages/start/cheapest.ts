import type { ListedModel } from '../../queries.ts';

/** Returns the cheapest model for a test; a built-in one if those are enabled. */
export function cheapest(models: readonly ListedModel[]): ListedModel | undefined {
  const builtIn = models.filter(({ provider }) => provider === 'sandbox');
  return (builtIn.length > 0 ? builtIn : models).toSorted((first, second) => sumOf(first) - sumOf(second))[0];
}

function sumOf({ price: { input, output } }: ListedModel): number {
  return Number(input) + Number(output);
}
