import { isObject, type JsonObject } from '../openai/types.ts';
import { modelSchema, type Model, type Route } from './catalog.ts';

/** A model as the list of a provider tells it; most lists tell little more than names. */
export interface ListedModel {
  readonly name: string;
  readonly title: string | undefined;
  readonly createdAtSeconds: number | undefined;
  readonly contextLength: number | undefined;
  readonly maxOutputTokens: number | undefined;
  readonly hasImages: boolean;
}

/** No server of one's own has as many; a list that goes on is cut. */
const MODELS_MAX = 1000;
const NAME_CHARACTERS_MAX = 200;
/** What a model is taken to read where its server does not say: enough that no real prompt is called impossible. */
const CONTEXT_LENGTH_DEFAULT = 131_072;

/** The models of a list in any of the known shapes; undefined when it is none. */
export function readModelList(body: unknown): ListedModel[] | undefined {
  // A server without models may say that its list is null.
  if (isObject(body) && body['object'] === 'list' && body['data'] === null) return [];
  const list = Array.isArray(body) ? body : isObject(body) ? (body['data'] ?? body['models']) : undefined;
  if (!Array.isArray(list)) return undefined;
  return list.filter(isObject).filter(isChatModel).flatMap(readEntry).slice(0, MODELS_MAX);
}

/** A listed model at no charge, under the name of its server; undefined when the name cannot be one of ours. */
export function toFreeModel(provider: string, listed: ListedModel): Model | undefined {
  const contextLength = listed.contextLength ?? CONTEXT_LENGTH_DEFAULT;
  const { success, data } = modelSchema.safeParse({
    id: toModelId(provider, listed.name),
    name: listed.title ?? shorten(listed.name),
    provider,
    created: listed.createdAtSeconds ?? 0,
    context_length: contextLength,
    // A server of one's own lets a model write until its context is full.
    max_output_tokens: listed.maxOutputTokens ?? contextLength,
    input: listed.hasImages ? ['text', 'image'] : ['text'],
    price: { input: 0, output: 0 },
    routes: [{ provider, model: listed.name }],
  });
  return success ? data : undefined;
}

/** What a model of a provider is called here. */
export function toModelId(provider: string, name: string): string {
  return `${provider}/${shorten(name)}`;
}

/** Whether one of these models leads there already. */
export function isWithin(models: readonly Model[], { provider, model }: Route): boolean {
  return models.some(({ routes }) => routes.some((route) => route.provider === provider && route.model === model));
}

/** Embeddings are no chat, wherever a list says what is one. */
function isChatModel({ type, supportedGenerationMethods: methods }: JsonObject): boolean {
  return !String(type).startsWith('embedding') && (!Array.isArray(methods) || methods.includes('generateContent'));
}

function readEntry(entry: JsonObject): ListedModel[] {
  const told = entry['id'] ?? entry['name'];
  if (typeof told !== 'string' || told === '' || told.length > NAME_CHARACTERS_MAX) return [];
  const title = entry['display_name'] ?? entry['displayName'];
  return [
    {
      name: told.replace(/^models\//, ''),
      title: typeof title === 'string' && title !== '' ? title : undefined,
      createdAtSeconds: readCount(entry, ['created']),
      contextLength: readCount(entry, CONTEXT_FIELDS),
      maxOutputTokens: readCount(entry, OUTPUT_FIELDS),
      hasImages: entry['type'] === 'vlm',
    },
  ];
}

/**
 * Where lists tell the context, the most exact first: vLLM and SGLang; llama.cpp, what it was started with before what the
 * model was made for; LM Studio, what is loaded before what could be; others.
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

/** A file is called by its name alone, and a sign that our ids do not have becomes a hyphen. */
function shorten(name: string): string {
  const file = /([^/\\]+)\.gguf$/i.exec(name)?.[1] ?? name;
  return file.replaceAll(/[^A-Za-z0-9._:/-]/g, '-');
}
