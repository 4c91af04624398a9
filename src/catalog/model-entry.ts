import { Document, isMap, isScalar, visit } from 'yaml';
import { formatPricePerMillion, type Picos } from '../ledger/money.ts';
import type { TokenPrices } from '../ledger/price.ts';
import { isObject, type JsonObject } from '../openai/types.ts';
import type { Model } from './catalog.ts';

/** Models as tollgate.yaml has them: what is read from it is the same list. */
export function writeModels(models: readonly Model[]): string {
  const document = new Document({ models: models.map(toEntry) });
  visit(document, {
    Seq: (_, list) => {
      if (list.items.every((item) => isScalar(item))) list.flow = true;
    },
    Map: (_, map) => {
      if (map.items.every(({ value }) => isScalar(value)) && !map.has('id')) map.flow = true;
    },
    Pair: (_, { key, value }) => {
      if (isScalar(key) && key.value === 'price' && isMap(value)) value.flow = true;
    },
  });
  return document.toString({ lineWidth: 0 });
}

/** A setting of a model that is not the same in two lists. */
export interface EntryChange {
  /** As it is written: `price.input`. */
  readonly field: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** In which settings two models differ. */
export function compareModels(before: Model, after: Model): EntryChange[] {
  const [old, fresh] = [spellSettings(toEntry(before)), spellSettings(toEntry(after))];
  return [...new Set([...old.keys(), ...fresh.keys()])]
    .map((field) => ({ field, before: old.get(field), after: fresh.get(field) }))
    .filter((change) => change.before !== change.after);
}

/** Every setting by its name; prices one by one, lists as a whole. */
function spellSettings(entry: JsonObject, prefix = ''): Map<string, string> {
  return new Map(
    Object.entries(entry).flatMap(([name, value]) => {
      if (isObject(value)) return [...spellSettings(value, `${prefix}${name}.`)];
      return [[prefix + name, typeof value === 'string' ? value : JSON.stringify(value)] as const];
    }),
  );
}

/** A model as an entry under `models`, with everything said that has a default. */
function toEntry(model: Model): JsonObject {
  const { long } = model.price;
  return {
    id: model.id,
    name: model.name,
    provider: model.provider,
    created: model.createdAtSeconds,
    context_length: model.contextLength,
    max_output_tokens: model.maxOutputTokens,
    input: [...model.inputModalities],
    output: [...model.outputModalities],
    features: [...model.features],
    price: { ...toPriceEntry(model.price), ...(long !== undefined && { long: { over: long.overTokens, ...toPriceEntry(long) } }) },
    routes: model.routes.map(({ provider, model: name, weight }) => ({ provider, model: name, ...(weight !== undefined && { weight }) })),
    ...(model.firstByteMs !== undefined && { first_byte_ms: model.firstByteMs }),
  };
}

function toPriceEntry({ input, cachedInput, cacheWrite, output }: TokenPrices): JsonObject {
  return {
    input: perMillion(input),
    cached_input: perMillion(cachedInput),
    cache_write: perMillion(cacheWrite),
    output: perMillion(output),
  };
}

/** At most nine digits before the point and six behind it: a number holds them all. */
function perMillion(price: Picos): number {
  return Number(formatPricePerMillion(price));
}
