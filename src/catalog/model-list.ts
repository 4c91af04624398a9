import { isObject, type JsonObject } from '../openai/types.ts';
import { modelSchema, type Model, type Route } from './catalog.ts';

/** A model as a provider lists it. Most lists contain little more than names. */
export interface ListedModel {
  readonly name: string;
  readonly title: string | undefined;
  readonly createdAtSeconds: number | undefined;
  readonly contextLength: number | undefined;
  readonly maxOutputTokens: number | undefined;
  readonly hasImages: boolean;
}

/** A longer list is cut. No self-hosted server has as many models. */
const MODELS_MAX = 1000;
const NAME_CHARACTERS_MAX = 200;
/** The assumed context length when the server states none: large enough that no real prompt is rejected. */
const CONTEXT_LENGTH_DEFAULT = 131_072;

/** Reads a model list in any of the known shapes. Returns undefined if it is not one. */
export function readModelList(body: unknown): ListedModel[] | undefined {
  // A server without models may send null for its list.
  if (isObject(body) && body['object'] === 'list' && body['data'] === null) return [];
  const list = Array.isArray(body) ? body : isObject(body) ? (body['data'] ?? body['models']) : undefined;
  if (!Array.isArray(list)) return undefined;
  return list.filter(isObject).filter(isChatModel).flatMap(readEntry).slice(0, MODELS_MAX);
}

/** Returns a listed model at no charge, named after its server. Undefined when the name is not a valid model id. */
export function toFreeModel(provider: string, listed: ListedModel): Model | undefined {
  const contextLength = listed.contextLength ?? CONTEXT_LENGTH_DEFAULT;
  const { success, data } = modelSchema.safeParse({
    id: toModelId(provider, listed.name),
    name: listed.title ?? shorten(listed.name),
    provider,
    created: listed.createdAtSeconds ?? 0,
    context_length: contextLength,
    // A self-hosted server lets a model write until its context is full.
    max_output_tokens: listed.maxOutputTokens ?? contextLength,
    input: listed.hasImages ? ['text', 'image'] : ['text'],
    price: { input: 0, output: 0 },
    routes: [{ provider, model: listed.name }],
  });
  return success ? data : undefined;
}

/** Returns the model id for a provider's model. */
export function toModelId(provider: string, name: string): string {
  return `${provider}/${shorten(name)}`;
}

/** True when one of these models already has this route. */
export function hasRoute(models: readonly Model[], { provider, model }: Route): boolean {
  return models.some(({ routes }) => routes.some((route) => route.provider === provider && route.model === model));
}

/** Filters out embedding models, where the list states the type. */
function isChatModel({ type, supportedGenerationMethods: methods }: JsonObject): boolean {
  return !String(type).startsWith('embedding') && (!Array.isArray(methods) || methods.includes('generateContent'));
}

function readEntry(entry: JsonObject): ListedModel[] {
  const listed = entry['id'] ?? entry['name'];
  if (typeof listed !== 'string' || listed === '' || listed.length > NAME_CHARACTERS_MAX) return [];
  const title = entry['display_name'] ?? entry['displayName'];
  return [
    {
      name: listed.replace(/^models\//, ''),
      title: typeof title === 'string' && title !== '' ? title : undefined,
      createdAtSeconds: readCount(entry, ['created']),
      contextLength: readCount(entry, CONTEXT_FIELDS),
      maxOutputTokens: readCount(entry, OUTPUT_FIELDS),
      hasImages: entry['type'] === 'vlm',
    },
  ];
}

/**
 * The fields that hold the context length, most exact first: vLLM and SGLang; llama.cpp, the length it was started with
 * before the one the model was trained for; LM Studio, the loaded length before the possible one; others.
 */
const CONTEXT_FIELDS = [
  'max_model_len',
  'meta.n_ctx',
  'meta.n_ctx_train',
  'loaded_context_length',
  'max_context_length',
  'context_length',
  'context_window',
  'max_input_tokens',
  'inputTokenLimit',
];
const OUTPUT_FIELDS = ['max_output_tokens', 'max_completion_tokens', 'outputTokenLimit'];

function readCount(entry: JsonObject, paths: readonly string[]): number | undefined {
  const values = paths.map((path) => path.split('.').reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), entry));
  return values.find((value): value is number => Number.isSafeInteger(value) && Number(value) > 0);
}

/** Shortens a file path to the file name, and replaces characters that model ids do not allow by hyphens. */
function shorten(name: string): string {
  const file = /([^/\\]+)\.gguf$/i.exec(name)?.[1] ?? name;
  return file.replaceAll(/[^A-Za-z0-9._:/-]/g, '-');
}
