import { readFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { hasRoute, toModelId, type ListedModel } from '../catalog/model-list.ts';
import { loadConfig, type Config, type ProviderConfig } from '../config.ts';
import { fetchModelList } from '../discovery.ts';
import { HttpClient } from '../http/client.ts';
import { isObject, type JsonObject } from '../openai/types.ts';
import type { JsonOption } from './session.ts';

interface ImportOptions extends JsonOption {
  readonly provider: string;
  readonly prices?: string;
}

/** Printed for values that only the operator knows. A file that still contains it does not load, so no model is served without a price. */
const PLACEHOLDER = 'FILL_IN';

/** `models import`: prints a tollgate.yaml entry for each model that a provider lists and the catalogue lacks. */
export async function importModels(options: ImportOptions): Promise<void> {
  const config = loadConfig(process.env);
  const provider = requireProvider(config, options.provider);
  const prices = options.prices === undefined ? {} : readPrices(options.prices);
  const listed = (await readList(provider)).filter(({ name }) => !hasRoute(config.models, { provider: provider.id, model: name }));
  const models = listed.map((model) => toEntry(provider.id, model, findFacts(prices, provider.id, model.name)));
  if (models.length === 0) throw new Error(`The catalogue already has every model of ${provider.id}.`);
  process.stdout.write(options.json === true ? `${JSON.stringify({ models })}\n` : stringify({ models }, { lineWidth: 0 }));
}

function requireProvider({ providers }: Config, id: string): ProviderConfig {
  const provider = providers.get(id);
  if (provider === undefined) throw new Error(`There is no provider ${id}, or it is off. Set its key, or add it to tollgate.yaml.`);
  if (!LISTING_DIALECTS.has(provider.dialect)) throw new Error(`${id} has no list of models that can be read; write the entries manually.`);
  return provider;
}

/** Dialects whose model list is at the address of the models. The others need a region, a project or a deployment to list them. */
const LISTING_DIALECTS: ReadonlySet<string> = new Set(['openai', 'anthropic', 'gemini']);

async function readList(provider: ProviderConfig): Promise<ListedModel[]> {
  const client = new HttpClient();
  try {
    return await fetchModelList(client, provider);
  } catch (error) {
    throw new Error(`The models of ${provider.id} could not be read: ${(error as Error).message}.`, { cause: error });
  } finally {
    client.close();
  }
}

/** Reads a table that maps a model's name to its prices in USD per token and its abilities. */
function readPrices(path: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Error(`${path} cannot be read as JSON (${(error as Error).message})`, { cause: error });
  }
  if (!isObject(value)) throw new Error(`${path} must be an object whose keys are model names`);
  return value;
}

/** Finds a model in the table, with or without its provider's name, to which some tables append `_ai`. */
function findFacts(prices: JsonObject, provider: string, name: string): JsonObject {
  const keys = [`${provider}/${name}`, `${provider}_ai/${name}`, name];
  const facts = keys.map((key) => (Object.hasOwn(prices, key) ? prices[key] : undefined)).find(isObject);
  return facts ?? {};
}

function toEntry(provider: string, listed: ListedModel, facts: JsonObject): JsonObject {
  const contextLength = listed.contextLength ?? readNumber(facts['max_input_tokens']);
  const maxOutputTokens = listed.maxOutputTokens ?? readNumber(facts['max_output_tokens']);
  return {
    id: toModelId(provider, listed.name),
    ...(listed.title === undefined ? {} : { name: listed.title }),
    provider,
    ...(listed.createdAtSeconds === undefined ? {} : { created: listed.createdAtSeconds }),
    context_length: contextLength ?? PLACEHOLDER,
    max_output_tokens: maxOutputTokens ?? PLACEHOLDER,
    ...readAbilities(facts),
    price: readPrice(facts),
    routes: [{ provider, model: listed.name }],
  };
}

/** Reads input kinds and features. Without facts the entry omits them and gets the defaults. */
function readAbilities(facts: JsonObject): JsonObject {
  if (Object.keys(facts).length === 0) return {};
  const has = (name: string, word: string): string[] => (facts[`supports_${name}`] === true ? [word] : []);
  return {
    input: ['text', ...has('vision', 'image'), ...has('audio_input', 'audio'), ...has('pdf_input', 'file')],
    features: [
      ...has('function_calling', 'tools'),
      ...has('response_schema', 'structured_outputs'),
      ...has('reasoning', 'reasoning'),
      'sampling',
    ],
  };
}

const LONG_TOKENS = 200_000;

function readPrice(facts: JsonObject): JsonObject {
  const input = perMillion(facts['input_cost_per_token_above_200k_tokens']);
  const output = perMillion(facts['output_cost_per_token_above_200k_tokens']);
  return {
    input: perMillion(facts['input_cost_per_token']) ?? PLACEHOLDER,
    ...present('cached_input', perMillion(facts['cache_read_input_token_cost'])),
    ...present('cache_write', perMillion(facts['cache_creation_input_token_cost'])),
    output: perMillion(facts['output_cost_per_token']) ?? PLACEHOLDER,
    ...(input === undefined || output === undefined ? {} : { long: { over: LONG_TOKENS, input, output } }),
  };
}

/** Converts dollars per token, such as 2.5e-06, to dollars per million, rounded to the six decimals that a price may have. */
function perMillion(usd: unknown): number | undefined {
  const value = readNumber(usd);
  return value === undefined || value < 0 ? undefined : Number((value * 1e6).toFixed(6));
}

function readNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function present(name: string, value: number | undefined): JsonObject {
  return value === undefined ? {} : { [name]: value };
}
