import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isMap, LineCounter, parseDocument, visit, type Document } from 'yaml';
import { z } from 'zod';
import shippedModels from './catalog/models.yaml' with { type: 'text' };
import { modelSchema, type Model } from './catalog/catalog.ts';
import type { KeyLimits } from './limits/limits.ts';
import { isObject, type JsonObject } from './openai/types.ts';
import { HOSTS } from './providers/compatible.ts';
import { SANDBOX_MODELS, SANDBOX_PROVIDER } from './providers/sandbox.ts';

/** How long each phase of a provider call may take. */
export interface Timeouts {
  readonly connectMs: number;
  readonly firstByteMs: number;
  readonly answerMs: number;
  readonly idleMs: number;
  readonly totalMs: number;
  readonly keepAliveMs: number;
}

/** A provider that requests can be sent to. */
export interface ProviderConfig {
  readonly id: string;
  readonly dialect: 'openai' | 'sandbox';
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
}

/** Everything the program was told, checked and frozen. */
export interface Config {
  readonly host: string;
  readonly port: number;
  readonly publicUrl: string | undefined;
  readonly dataFolder: string;
  readonly databasePath: string;
  readonly logLevel: string;
  readonly providers: ReadonlyMap<string, ProviderConfig>;
  readonly models: readonly Model[];
  readonly limits: KeyLimits;
  readonly timeouts: Timeouts;
}

/** Tells everything that is wrong with the settings at once. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  constructor(mistakes: readonly string[]) {
    super(
      `The settings have ${mistakes.length === 1 ? 'a mistake' : `${mistakes.length} mistakes`}:\n${mistakes.map((mistake) => `  - ${mistake}`).join('\n')}`,
    );
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the environment and the settings file into one frozen object, or throws one error that lists every mistake. */
export function loadConfig(environment: Environment): Config {
  const mistakes: string[] = [];
  const variables = readEnvironment(environment, mistakes);
  const file = readSettingsFile(environment, mistakes);
  const providers = collectProviders(file, environment);
  const models = collectModels(file);
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return deepFreeze({
    host: variables.HOST,
    port: variables.PORT,
    publicUrl: variables.PUBLIC_URL,
    dataFolder: resolve(variables.TOLLGATE_DATA),
    databasePath: join(resolve(variables.TOLLGATE_DATA), 'tollgate.db'),
    logLevel: variables.TOLLGATE_LOG_LEVEL,
    providers,
    models,
    limits: toLimits(file.limits),
    timeouts: toTimeouts(file.timeouts),
  });
}

const NOT_YET = 'is not supported by this version, which has the embedded database only. Unset it';
const empty = z.literal('', NOT_YET).optional();

/** The environment variables, apart from the providers' keys. docs/configuration.md lists them; a test compares. */
export const environmentSchema = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: z.coerce.number('must be a number from 0 to 65535').int().min(0).max(65_535).default(8787),
  PUBLIC_URL: z.url('must be an address such as https://gate.example.com').optional(),
  TOLLGATE_DATA: z.string().default('./data'),
  TOLLGATE_CONFIG: z.string().optional(),
  TOLLGATE_LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
  DATABASE_URL: empty,
  REDIS_URL: empty,
});

const count = z.number().int().min(1).max(Number.MAX_SAFE_INTEGER);
const milliseconds = z
  .number()
  .int()
  .min(1)
  .max(24 * 3600 * 1000);

/** tollgate.yaml. Unknown keys are mistakes: a misspelt limit must not be ignored. */
export const settingsSchema = z.strictObject({
  providers: z
    .record(
      z.string().regex(/^[a-z0-9][a-z0-9_-]*$/),
      z.strictObject({
        dialect: z.enum(['openai']).default('openai'),
        base_url: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).optional(),
        api_key: z.string().min(1).optional(),
      }),
    )
    .default({}),
  models: z.array(modelSchema).default([]),
  limits: z
    .strictObject({
      requests_per_minute: count.default(600),
      tokens_per_minute: count.default(1_000_000),
      concurrent: count.default(64),
    })
    .prefault({}),
  timeouts: z
    .strictObject({
      connect_ms: milliseconds.default(5000),
      first_byte_ms: milliseconds.default(60_000),
      answer_ms: milliseconds.default(600_000),
      idle_ms: milliseconds.default(120_000),
      total_ms: milliseconds.default(1_800_000),
      keep_alive_ms: milliseconds.default(15_000),
    })
    .prefault({}),
});

const PROVIDER_ID_HINT = 'the name of a provider must be lower-case letters, digits, - and _';
/** How the schema library says that something is not there. */
const MISSING = /^Invalid input: expected (\w+), received undefined$/;

type Settings = z.output<typeof settingsSchema>;

function readEnvironment(environment: Environment, mistakes: string[]): z.output<typeof environmentSchema> {
  // An empty variable is how many tools write "not set".
  const present = Object.fromEntries(Object.entries(environment).filter(([, value]) => value?.trim() !== ''));
  const result = environmentSchema.safeParse(present);
  if (result.success) return result.data;
  for (const issue of result.error.issues) {
    const name = String(issue.path[0]);
    mistakes.push(`environment variable ${name}: ${issue.message}`);
  }
  return environmentSchema.parse({});
}

function readSettingsFile(environment: Environment, mistakes: string[]): Settings {
  const named = environment['TOLLGATE_CONFIG'];
  const path = named === undefined || named === '' ? 'tollgate.yaml' : named;
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const isMissingDefault = path !== named && (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (!isMissingDefault) mistakes.push(`${path}: cannot be read (${(error as Error).message})`);
    return settingsSchema.parse({});
  }
  return parseSettings(path, text, environment, mistakes);
}

function parseSettings(path: string, text: string, environment: Environment, mistakes: string[]): Settings {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineAt = (position: number): number => lines.linePos(position).line;
  const broken = document.errors.map((error) => `${path}, line ${lineAt(error.pos[0])}: ${error.message}`);
  visit(document, {
    Alias: (_, alias) => {
      if (alias.resolve(document) === undefined)
        broken.push(`${path}, line ${lineAt(alias.range?.[0] ?? 0)}: there is no anchor &${alias.source}`);
    },
  });
  mistakes.push(...broken);
  if (broken.length > 0) return settingsSchema.parse({});

  const at = (where: readonly PropertyKey[]): string => `${path}, line ${lineOf(document, lines, where)}: ${spell(where)}`;
  const refuse = (where: PropertyKey[], message: string): void => void mistakes.push(`${at(where)}: ${message}`);
  const value = fillVariables(readValue(document, path, mistakes), environment, [], (where, name) =>
    refuse(where, `the environment variable ${name} is not set`),
  ) as JsonObject;
  checkReferences(value, refuse);
  const result = settingsSchema.safeParse(value);
  if (result.success) return result.data;
  for (const issue of result.error.issues) {
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) refuse([...issue.path, key], 'unknown setting; docs/configuration.md lists the known ones');
    } else {
      refuse(issue.path, issue.code === 'invalid_key' ? PROVIDER_ID_HINT : issue.message.replace(MISSING, 'is missing; it must be a $1'));
    }
  }
  return settingsSchema.parse({});
}

/** The file as a plain object. A section without content is one that is not there. */
function readValue(document: Document, path: string, mistakes: string[]): JsonObject {
  const value: unknown = document.toJS() ?? {};
  if (isObject(value)) return Object.fromEntries(Object.entries(value).filter(([, section]) => section !== null));
  mistakes.push(`${path}, line 1: the file must be a list of named settings, such as "limits: { concurrent: 8 }"`);
  return {};
}

/** What one part of the file says about another. Looks at the raw value, so that it is told beside all other mistakes. */
function checkReferences(value: JsonObject, refuse: (where: PropertyKey[], message: string) => void): void {
  const providers = isObject(value['providers']) ? value['providers'] : {};
  for (const [id, provider] of Object.entries(providers)) {
    if (id === SANDBOX_PROVIDER) refuse(['providers', id], 'this name belongs to the built-in sandbox');
    if (isObject(provider) && provider['base_url'] === undefined && !Object.hasOwn(HOSTS, id))
      refuse(['providers', id], 'base_url is missing');
  }
  const known = new Set([SANDBOX_PROVIDER, ...Object.keys(HOSTS), ...Object.keys(providers)]);
  const seen = new Set<unknown>();
  objectsIn(value['models']).forEach((model, index) => {
    if (seen.has(model['id'])) refuse(['models', index, 'id'], 'there is another model with this id');
    seen.add(model['id']);
    objectsIn(model['routes']).forEach(({ provider }, place) => {
      if (typeof provider !== 'string' || known.has(provider)) return;
      refuse(['models', index, 'routes', place, 'provider'], `there is no provider ${provider}`);
    });
  });
}

function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.map((item) => (isObject(item) ? item : {})) : [];
}

/** The line of a setting, or of the nearest parent that is written there when the setting itself is missing. */
function lineOf(document: Document, lines: LineCounter, where: readonly PropertyKey[]): number {
  for (let length = where.length; length > 0; length -= 1) {
    const parent: unknown = length === 1 ? document.contents : document.getIn(where.slice(0, length - 1), true);
    const pair = isMap(parent) ? parent.items.find((item) => String(item.key) === String(where[length - 1])) : undefined;
    const node: unknown = pair?.key ?? document.getIn(where.slice(0, length), true);
    const range = (node as { range?: [number, number, number] } | undefined)?.range;
    if (range !== undefined) return lines.linePos(range[0]).line;
  }
  return 1;
}

function spell(where: readonly PropertyKey[]): string {
  return where.map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${String(part)}`)).join('');
}

/** Replaces `${NAME}` by the environment's value, in strings only and after parsing, so that a secret cannot change the structure. */
function fillVariables(
  value: unknown,
  environment: Environment,
  where: PropertyKey[],
  missing: (where: PropertyKey[], name: string) => void,
): unknown {
  if (typeof value === 'string') {
    return value.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
      const filled = environment[name];
      if (filled === undefined) missing(where, name);
      return filled ?? name;
    });
  }
  if (Array.isArray(value)) return value.map((item, index) => fillVariables(item, environment, [...where, index], missing));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillVariables(item, environment, [...where, key], missing)]));
}

/** The sandbox, every known host whose key is in the environment, and what the file adds or changes. */
function collectProviders(settings: Settings, environment: Environment): Map<string, ProviderConfig> {
  const providers = new Map<string, ProviderConfig>([
    [SANDBOX_PROVIDER, { id: SANDBOX_PROVIDER, dialect: 'sandbox', baseUrl: '', apiKey: undefined }],
  ]);
  for (const [id, host] of Object.entries(HOSTS)) {
    const apiKey = environment[host.keyVariable];
    if (apiKey !== undefined && apiKey !== '') providers.set(id, { id, dialect: 'openai', baseUrl: host.baseUrl, apiKey });
  }
  for (const [id, entry] of Object.entries(settings.providers)) {
    const known = providers.get(id);
    const baseUrl = entry.base_url ?? known?.baseUrl ?? HOSTS[id]?.baseUrl ?? '';
    providers.set(id, { id, dialect: entry.dialect, baseUrl: baseUrl.replace(/\/+$/, ''), apiKey: entry.api_key ?? known?.apiKey });
  }
  return providers;
}

/** The sandbox, the shipped catalogue, and the file's models, which replace those of the same id. */
function collectModels(settings: Settings): Model[] {
  const shipped = z.object({ models: z.array(modelSchema) }).parse(parseDocument(shippedModels).toJS());
  const sandbox = SANDBOX_MODELS.map((entry) => modelSchema.parse(entry));
  return [...new Map([...sandbox, ...shipped.models, ...settings.models].map((model) => [model.id, model])).values()];
}

function toLimits(limits: Settings['limits']): KeyLimits {
  return { requestsPerMinute: limits.requests_per_minute, tokensPerMinute: limits.tokens_per_minute, concurrent: limits.concurrent };
}

function toTimeouts(timeouts: Settings['timeouts']): Timeouts {
  return {
    connectMs: timeouts.connect_ms,
    firstByteMs: timeouts.first_byte_ms,
    answerMs: timeouts.answer_ms,
    idleMs: timeouts.idle_ms,
    totalMs: timeouts.total_ms,
    keepAliveMs: timeouts.keep_alive_ms,
  };
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const inner of value instanceof Map ? value.values() : Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}
