import { z } from 'zod';
import { formatPricePerToken, parsePrice, type Picos } from '../ledger/money.ts';
import type { ModelPrice, TokenPrices } from '../ledger/price.ts';

/** One way to reach a model: a provider, and the provider's name for the model. */
export interface Route {
  readonly provider: string;
  readonly model: string;
  /** The share of requests this route gets among adjacent routes that also have a weight. */
  readonly weight?: number | undefined;
}

/** A model that callers can name. */
export interface Model {
  readonly id: string;
  readonly name: string;
  readonly provider: string;
  readonly createdAtSeconds: number;
  readonly contextLength: number;
  readonly maxOutputTokens: number;
  readonly inputModalities: readonly string[];
  readonly outputModalities: readonly string[];
  readonly features: readonly Feature[];
  readonly price: ModelPrice;
  /** Tried in this order until one answers. Adjacent routes with weights are drawn at random by weight. */
  readonly routes: readonly Route[];
  /** Overrides the general timeout for the first byte of a stream. */
  readonly firstByteMs: number | undefined;
}

const FEATURES = ['tools', 'structured_outputs', 'reasoning', 'sampling', 'logprobs', 'web_search'] as const;
/** What a model can do, in the catalogue's terms. */
export type Feature = (typeof FEATURES)[number];

const TOKENS_MAX = 100_000_000;
const WEIGHT_MAX = 1_000_000;

/** USD per million tokens. */
export const priceSchema = z
  .union([z.number(), z.string()], {
    error: ({ input }) => (input === undefined ? 'is missing; it must be USD per million tokens' : 'must be USD per million tokens'),
  })
  .transform((value) => parsePrice(String(value)))
  .refine(
    (value): value is Picos => value !== undefined && value >= 0n,
    'must be USD per million tokens: zero or more, at most six decimals',
  );
const routeEntry = z.strictObject({
  provider: z.string().min(1),
  model: z.string().min(1),
  weight: z.number().gt(0, 'must be above zero').max(WEIGHT_MAX).optional(),
});
const modality = z.enum(['text', 'image', 'audio', 'file', 'video']);

const priceFields = {
  input: priceSchema,
  cached_input: priceSchema.optional(),
  cache_write: priceSchema.optional(),
  output: priceSchema,
};

const modelEntry = z.strictObject({
  id: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/, 'must be 1 to 128 letters, digits and . _ : / -'),
  name: z.string().min(1).optional(),
  provider: z.string().min(1),
  created: z.number().int().min(0).default(0),
  context_length: z.number().int().min(1).max(TOKENS_MAX),
  max_output_tokens: z.number().int().min(1).max(TOKENS_MAX),
  input: z.array(modality).min(1).default(['text']),
  output: z.array(modality).min(1).default(['text']),
  features: z.array(z.enum(FEATURES)).default(['tools', 'structured_outputs', 'sampling']),
  price: z.strictObject({
    ...priceFields,
    long: z.strictObject({ over: z.number().int().min(1), ...priceFields }).optional(),
  }),
  routes: z.array(routeEntry).min(1),
  first_byte_ms: z.number().int().min(1).optional(),
});

/** One entry under `models`, in the shipped catalogue as well as in tollgate.yaml. */
export const modelSchema = modelEntry.transform(toModel);

/** The models by id, and which of them can be called. It uses a Map, so that a model named `constructor` is simply unknown. */
export class Catalog {
  readonly #served = new Map<string, Model>();
  /** The ids and routes of all models in the settings, callable or not. */
  readonly #sold = new Set<string>();
  /** The leading letters of all model and maker names ever listed. Used by `looksLikeModelName`. */
  readonly #prefixes = new Set<string>();
  readonly #discovered = new Map<string, readonly Model[]>();
  /** The models of configured providers, in the settings and discovered. */
  #all: ReadonlyMap<string, Model> = this.#served;
  /** Those of them that have a provider in service. */
  #callable: ReadonlyMap<string, Model> = this.#served;
  #disabled: ReadonlySet<string> = new Set();

  /** Keeps the models of configured providers, each with only its usable routes. */
  constructor(models: Iterable<Model>, isConfigured: (provider: string) => boolean) {
    for (const model of models) {
      this.#sold.add(model.id);
      this.#addPrefixes(model);
      for (const route of model.routes) this.#sold.add(routeKey(route));
      const routes = model.routes.filter((route) => isConfigured(route.provider));
      if (routes.length > 0) this.#served.set(model.id, { ...model, routes });
    }
  }

  /** Returns the discovered models that are not in the settings. A model sold under one name must not be free under another. */
  excludeSold(models: readonly Model[]): Model[] {
    return models.filter((model) => !this.#sold.has(model.id) && !model.routes.some((route) => this.#sold.has(routeKey(route))));
  }

  /** Lists the models discovered at a provider, replacing those discovered there earlier. */
  discover(provider: string, models: readonly Model[]): void {
    this.#discovered.set(provider, this.excludeSold(models));
    for (const model of models) this.#addPrefixes(model);
    const discovered = [...this.#discovered.values()].flat().map((model) => [model.id, model] as const);
    this.#all = new Map([...discovered, ...this.#served]);
    this.#callable = this.#findCallable();
  }

  /** Takes these providers out of service and puts all others back. Requests only see what is left, so they need no check of their own. */
  disable(providers: ReadonlySet<string>): void {
    if (providers.symmetricDifference(this.#disabled).size === 0) return;
    this.#disabled = providers;
    this.#callable = this.#findCallable();
  }

  #addPrefixes({ id }: Model): void {
    for (const part of id.split('/')) this.#prefixes.add(prefixOf(part));
  }

  #findCallable(): ReadonlyMap<string, Model> {
    if (this.#disabled.size === 0) return this.#all;
    const isEnabled = ({ provider }: Route): boolean => !this.#disabled.has(provider);
    return new Map(
      [...this.#all].flatMap(([id, model]) => {
        if (model.routes.every(isEnabled)) return [[id, model] as const];
        const routes = model.routes.filter(isEnabled);
        return routes.length === 0 ? [] : [[id, { ...model, routes }] as const];
      }),
    );
  }

  find(id: string): Model | undefined {
    return this.#callable.get(id);
  }

  list(): Model[] {
    return [...this.#callable.values()];
  }

  /** Lists the models of configured providers, including those out of service. */
  listAll(): Model[] {
    return [...this.#all.values()];
  }

  /** True when the text looks like a model name. Anything else may be a secret in the wrong field. */
  looksLikeModelName(name: string): boolean {
    if (this.#all.has(name)) return true;
    return name.length <= NAME_CHARACTERS_MAX && NAME.test(name) && this.#prefixes.has(prefixOf(name));
  }

  /** True when the model exists but all its providers are out of service. */
  isPaused(id: string): boolean {
    return this.#all.has(id) && !this.#callable.has(id);
  }
}

/** Model names are short words in a row; keys and tokens are not. */
const NAME = /^[a-z][a-z0-9]{0,20}(?:[-._:/@][a-z0-9]{1,20})*$/i;
const NAME_CHARACTERS_MAX = 128;

function prefixOf(name: string): string {
  return /^[a-z]*/i.exec(name)?.[0].toLowerCase() ?? '';
}

/** Ids contain no spaces, so a route cannot be mistaken for an id. */
function routeKey({ provider, model }: Route): string {
  return `${provider} ${model}`;
}

/** Returns a model as the model list shows it: OpenAI's four fields, and the extras that clients read. */
export function describeModel(model: Model, supportedParameters: readonly string[]): Record<string, unknown> {
  return {
    id: model.id,
    object: 'model',
    created: model.createdAtSeconds,
    owned_by: model.provider,
    name: model.name,
    context_length: model.contextLength,
    max_output_tokens: model.maxOutputTokens,
    pricing: {
      prompt: formatPricePerToken(model.price.input),
      completion: formatPricePerToken(model.price.output),
      input_cache_read: formatPricePerToken(model.price.cachedInput),
      input_cache_write: formatPricePerToken(model.price.cacheWrite),
    },
    architecture: {
      modality: `${model.inputModalities.join('+')}->${model.outputModalities.join('+')}`,
      input_modalities: model.inputModalities,
      output_modalities: model.outputModalities,
    },
    supported_parameters: supportedParameters,
  };
}

type ModelEntry = z.infer<typeof modelEntry>;
type PriceEntry = Omit<ModelEntry['price'], 'long'>;

/** Many hosts send nothing while a model thinks. */
const THINKING_MS = 300_000;

function toModel(entry: ModelEntry): Model {
  const { long, ...base } = entry.price;
  const basePrices = toPrices(base);
  return {
    id: entry.id,
    name: entry.name ?? entry.id,
    provider: entry.provider,
    createdAtSeconds: entry.created,
    contextLength: entry.context_length,
    maxOutputTokens: entry.max_output_tokens,
    inputModalities: entry.input,
    outputModalities: entry.output,
    features: entry.features,
    price: long === undefined ? basePrices : { ...basePrices, long: { ...toLongPrices(basePrices, long), overTokens: long.over } },
    routes: entry.routes,
    firstByteMs: entry.first_byte_ms ?? (entry.features.includes('reasoning') ? THINKING_MS : undefined),
  };
}

/** A cached or cache-writing token without a listed price costs as much as an input token. */
function toPrices(entry: PriceEntry): TokenPrices {
  return {
    input: entry.input,
    cachedInput: entry.cached_input ?? entry.input,
    cacheWrite: entry.cache_write ?? entry.input,
    output: entry.output,
  };
}

/** If the long tier lists no cache price, it rises by the same factor as the input price. */
function toLongPrices(base: TokenPrices, long: PriceEntry): TokenPrices {
  const scale = (basePrice: Picos): Picos =>
    (base.input === 0n ? basePrice : (basePrice * long.input + base.input - 1n) / base.input) as Picos;
  return {
    input: long.input,
    cachedInput: long.cached_input ?? scale(base.cachedInput),
    cacheWrite: long.cache_write ?? scale(base.cacheWrite),
    output: long.output,
  };
}
