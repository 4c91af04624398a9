import { Document, isMap, isScalar, visit } from 'yaml';
import { formatPricePerMillion, type Picos } from '../ledger/money.ts';
import type { TokenPrices } from '../ledger/price.ts';
import { isObject, type JsonObject } from '../openai/types.ts';
import type { Model } from './catalog.ts';

/** Writes models as YAML for tollgate.yaml. Reading it returns the same models. */
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

/** A setting that differs between two versions of a model. */
export interface EntryChange {
  /** As written in the settings: `price.input`. */
  readonly field: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Lists the settings in which two models differ. */
export function compareModels(before: Model, after: Model): EntryChange[] {
  const [old, fresh] = [flattenSettings(toEntry(before)), flattenSettings(toEntry(after))];
  return [...new Set([...old.keys(), ...fresh.keys()])]
    .map((field) => ({ field, before: old.get(field), after: fresh.get(field) }))
    .filter((change) => change.before !== change.after);
}

/** Maps every setting to its text: prices one by one, lists as a whole. */
function flattenSettings(entry: JsonObject, prefix = ''): Map<string, string> {
  return new Map(
    Object.entries(entry).flatMap(([name, value]) => {
      if (isObject(value)) return [...flattenSettings(value, `${prefix}${name}.`)];
      return [[prefix + name, typeof value === 'string' ? value : JSON.stringify(value)] as const];
    }),
  );
}

/** Returns a model as an entry under `models`, with all defaults spelled out. */
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

/** Prices have at most nine digits before the point and six after it, which a number holds exactly. */
function perMillion(price: Picos): number {
  return Number(formatPricePerMillion(price));
}
