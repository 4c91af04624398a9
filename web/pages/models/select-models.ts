import type { ListedModel } from '../../queries.ts';
import type { Sort } from '../../ui/table-head.tsx';
import { CAPABILITIES } from './search.ts';
import type { Capability, ModelsSearch } from './search.ts';

/** Filters and sorts the models as the URL says. */
export function selectModels(models: readonly ListedModel[], search: ModelsSearch): readonly ListedModel[] {
  const matching = models.filter((model) => matches(model, search));
  const sort = readSort(search.sort);
  const rank = sort === undefined ? undefined : RANKS[sort.by];
  // Built-in models are only for trying the gate, so real models come first.
  if (sort === undefined || rank === undefined)
    return matching.toSorted((first, second) => Number(isBuiltIn(first)) - Number(isBuiltIn(second)));
  const sign = sort.direction === 'ascending' ? 1 : -1;
  return matching.toSorted((first, second) => compare(rank(first), rank(second), sign));
}

/** Parses a sort order: `-input` is descending by input price. */
export function readSort(text: string | undefined): Sort | undefined {
  if (text === undefined) return undefined;
  return text.startsWith('-') ? { by: text.slice(1), direction: 'descending' } : { by: text, direction: 'ascending' };
}

export function writeSort({ by, direction }: Sort): string {
  return direction === 'descending' ? `-${by}` : by;
}

/** Returns the capabilities of a model that can be filtered by. */
export function capabilitiesOf(model: ListedModel): readonly Capability[] {
  return CAPABILITIES.filter((capability) => model.features.includes(capability) || model.inputModalities.includes(capability));
}

type Rank = (model: ListedModel) => number | string | undefined;

const RANKS: Readonly<Record<string, Rank>> = {
  model: (model) => model.name.toLowerCase(),
  input: (model) => Number(model.price.input),
  cachedInput: (model) => Number(model.price.cachedInput),
  cacheWrite: (model) => Number(model.price.cacheWrite),
  output: (model) => Number(model.price.output),
  context: (model) => model.contextLength,
  maxOutput: (model) => model.maxOutputTokens,
  success: (model) => model.measured?.successPart,
  firstToken: (model) => model.measured?.firstTokenP50Ms ?? undefined,
  requests: (model) => model.measured?.requests,
};

/** Compares two values. Missing values come last in either direction. */
function compare(first: number | string | undefined, second: number | string | undefined, sign: number): number {
  if (first === undefined || second === undefined) return Number(first === undefined) - Number(second === undefined);
  return first === second ? 0 : first < second ? -sign : sign;
}

function isBuiltIn(model: ListedModel): boolean {
  return model.provider === 'sandbox';
}

function matches(model: ListedModel, { q, provider, can, context, price }: ModelsSearch): boolean {
  const words = (q ?? '').toLowerCase().split(/\s+/u);
  const text = `${model.id} ${model.name}`.toLowerCase();
  return (
    words.every((word) => text.includes(word)) &&
    (provider === undefined || model.provider === provider) &&
    (can === undefined || capabilitiesOf(model).includes(can)) &&
    (context === undefined || model.contextLength >= Number(context)) &&
    (price === undefined || Number(model.price.input) <= Number(price))
  );
}
