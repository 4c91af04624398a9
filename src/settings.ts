import { readFileSync } from 'node:fs';
import { isMap, isScalar, LineCounter, parseDocument, visit, type Document } from 'yaml';
import { z } from 'zod';
import { findUnknown, wildcardOf } from './accounts/model-rules.ts';
import { planSchema } from './accounts/plan-settings.ts';
import { signInSchema } from './accounts/sign-in-settings.ts';
import { modelSchema, type Model } from './catalog/catalog.ts';
import { listedModels } from './catalog/list-prices.ts';
import { DAY_MS } from './durations.ts';
import { parseNetworks } from './http/client-address.ts';
import { suggestName } from './nearest-name.ts';
import { isObject, type JsonObject } from './openai/types.ts';
import { paymentsSchema } from './payments/payment-settings.ts';
import { sayPlainly } from './plain-words.ts';
import { checkProviderSettings } from './provider-settings.ts';
import { HOSTS } from './providers/hosts.ts';
import type { Host } from './providers/host.ts';
import { DIALECT_NAMES } from './providers/dialect-names.ts';
import { SANDBOX_MODELS, SANDBOX_PROVIDER } from './providers/sandbox.ts';

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

const count = z.number().int().min(1).max(Number.MAX_SAFE_INTEGER);
const milliseconds = z.number().int().min(1).max(DAY_MS);

/** An email address, or a name followed by the address in angle brackets. */
const SENDER = /^(?:[^<>\r\n]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/u;

/** A credential for a provider. It is trimmed, because files and forms often add a line end. */
export const credentialSchema = z
  .string()
  .trim()
  .min(1)
  .regex(/^[\x20-\x7e]*$/u, 'must be one line of plain letters, digits and symbols, since it is sent in a header');

/** The base URL of a provider. Paths are appended to it; a user name, query or fragment would not be sent. */
export const addressSchema = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address', abort: true })
  .refine(isPlainAddress, 'must have no user name, ? or #: a key is given as api_key, the version of an API as api_version');

function isPlainAddress(address: string): boolean {
  const { username, password } = new URL(address);
  return username === '' && password === '' && !/[?#]/u.test(address);
}

/** The schema of tollgate.yaml. Unknown keys are mistakes, so that a misspelt limit is not ignored. */
export const settingsSchema = z.strictObject({
  providers: z
    .record(
      z.string().regex(/^[a-z0-9][a-z0-9_-]*$/),
      z.strictObject({
        dialect: z.enum(DIALECT_NAMES).optional(),
        like: z.enum(Object.keys(HOSTS) as [string, ...string[]], 'must be the name of a known provider').optional(),
        base_url: addressSchema.optional(),
        api_key: credentialSchema.optional(),
        api_version: z.string().min(1).optional(),
        region: z
          .string()
          .regex(/^[a-z0-9-]+$/, 'must be a region such as eu-central-1')
          .optional(),
        access_key_id: z.string().min(1).optional(),
        secret_access_key: z.string().min(1).optional(),
        session_token: z.string().min(1).optional(),
        service_account: z.string().min(1).optional(),
        discover: z.boolean().optional(),
      }),
    )
    .default({}),
  models: z.array(modelSchema).default([]),
  limits: z
    .strictObject({
      requests_per_minute: count.default(600),
      tokens_per_minute: count.default(1_000_000),
      concurrent: count.default(64),
      account_concurrent: count.default(256),
      memory_mb: count.optional(),
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
      redis_ms: milliseconds.default(50),
    })
    .prefault({}),
  accounts: z
    .strictObject({
      sign_up: z.enum(['open', 'invite', 'closed']).default('open'),
      sign_up_credit_usd: z.number().min(0).max(1000).multipleOf(0.01, 'must be an amount in USD with at most two decimals').default(0),
      mail_from: z
        .string()
        .regex(SENDER, 'must be an address such as Tollgate <tollgate@example.com>')
        .default('Tollgate <tollgate@localhost>'),
      sign_in: signInSchema.prefault({}),
    })
    .prefault({}),
  http: z
    .strictObject({
      trusted_proxies: z
        .array(z.string().refine((text) => parseNetworks([text]) !== undefined, 'must be an address or a network such as 10.0.0.0/8'))
        .default([]),
    })
    .prefault({}),
  media: z.strictObject({ fetch: z.boolean().default(true) }).prefault({}),
  retention: z.strictObject({ usage_days: count.optional() }).prefault({}),
  payments: paymentsSchema.prefault({}),
  plans: z.array(planSchema).default([]),
});

const PROVIDER_ID_HINT = 'the name of a provider must be lower-case letters, digits, - and _';

/** The validated settings file. */
export type Settings = z.output<typeof settingsSchema>;

/** Rejects other encodings: they would be misread. */
const UTF_8 = new TextDecoder('utf-8', { fatal: true });

/** Reads the settings file, if there is one. Adds its mistakes to the list, each with its line. */
export function readSettingsFile(environment: Environment, mistakes: string[]): Settings {
  const named = environment['TOLLGATE_CONFIG'];
  const path = named === undefined || named === '' ? 'tollgate.yaml' : named;
  try {
    return parseSettings(path, UTF_8.decode(readFileSync(path)), environment, mistakes);
  } catch (error) {
    const isMissingDefault = path !== named && (error as NodeJS.ErrnoException).code === 'ENOENT';
    const reason = error instanceof TypeError ? 'it is not written in UTF-8' : (error as Error).message;
    if (!isMissingDefault) mistakes.push(`${path}: cannot be read (${reason})`);
    return settingsSchema.parse({});
  }
}

function parseSettings(path: string, text: string, environment: Environment, mistakes: string[]): Settings {
  const opened = openText(path, text, mistakes);
  if (opened === undefined) return settingsSchema.parse({});
  const { refuse } = opened;
  const value = fillVariables(opened.value, environment, [], refuse) as JsonObject;
  checkReferences(value, [], refuse);
  checkProviderSettings(value['providers'], environment, refuse);
  checkPlanModels(value, refuse);
  return parseWith(settingsSchema, value, refuse) ?? settingsSchema.parse({});
}

/**
 * Reads and checks the models in a text for the settings file. Other sections are ignored, and no variable is filled in: the result
 * may be shown to people who must not see the environment.
 */
export function readModels(text: string, providers: readonly string[], mistakes: string[]): readonly Model[] {
  try {
    if (isTangled(text)) throw new Error('it is nested too deeply, refers to itself too often, or has too many entries in one place');
    const opened = openText('the text', text, mistakes);
    if (opened === undefined) return [];
    const { value, refuse } = opened;
    if (value['models'] === undefined) refuse([], 'there is no section "models"');
    checkReferences(value, providers, refuse);
    return parseWith(settingsSchema.pick({ models: true }), { models: value['models'] ?? [] }, refuse)?.models ?? [];
  } catch (error) {
    // For example anchors that refer to each other without end.
    mistakes.push(`the text cannot be read (${(error as Error).message})`);
    return [];
  }
}

const DEPTH_MAX = 50;
const ALIASES_MAX = 100;
/** The parser compares every key with all others of its mapping. */
const KEYS_MAX = 500;

/** Rejects deep nesting, many aliases and many keys: the parser would take minutes for thousands of them, and nobody needs them. */
function isTangled(text: string): boolean {
  let depth = 0;
  for (const [bracket] of text.matchAll(/[[{\]}]/gu)) {
    depth = bracket === '[' || bracket === '{' ? depth + 1 : Math.max(0, depth - 1);
    if (depth > DEPTH_MAX) return true;
  }
  return /(?:[-?:][ \t]+){50}/u.test(text) || text.split('*').length > ALIASES_MAX || hasManyKeys(text);
}

function hasManyKeys(text: string): boolean {
  let isFound = false;
  visit(parseDocument(text, { uniqueKeys: false, prettyErrors: false }), {
    Map: (_, { items }) => {
      isFound ||= items.length > KEYS_MAX;
    },
  });
  return isFound;
}

/** Replaces parser messages that are meant for programmers. */
const YAML_HINTS: Readonly<Record<string, string>> = { MULTIPLE_DOCS: 'another document begins here; the settings must be one' };

/** One syntax error makes the parser report every word after it. */
const YAML_ERRORS_MAX = 3;
const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/gu;
/** Anything written like a variable, such as the defaults that shells know: `${NAME:-value}`. */
const BRACED = /\$\{([^{}\r\n]*)\}/gu;
const SHIELDED = /\$\uE000([^\uE001]*)\uE001/gu;

/** Replaces the braces of `${NAME}` by other characters until the text is parsed: inside `{ … }`, YAML would take them for its own. */
function shieldVariables(text: string): string {
  return text.replace(BRACED, '$\uE000$1\uE001');
}

type Refuse = (where: PropertyKey[], message: string) => void;

/** Parses a text into a plain object, with a function that reports mistakes by place. Returns undefined if it is not valid YAML. */
function openText(path: string, text: string, mistakes: string[]): { readonly value: JsonObject; readonly refuse: Refuse } | undefined {
  const lines = new LineCounter();
  const document = parseDocument(shieldVariables(text), { lineCounter: lines, prettyErrors: false });
  const lineAt = (position: number): number => lines.linePos(position).line;
  const errors = document.errors.slice(0, YAML_ERRORS_MAX);
  const broken = errors.map(({ code, pos, message }) => `${path}, line ${lineAt(pos[0])}: ${YAML_HINTS[code] ?? message}`);
  visit(document, {
    Scalar: (_, scalar) => {
      if (typeof scalar.value === 'string') scalar.value = scalar.value.replace(SHIELDED, '${$1}');
    },
    Alias: (_, alias) => {
      if (alias.resolve(document) === undefined)
        broken.push(
          `${path}, line ${lineAt(alias.range?.[0] ?? 0)}: there is no anchor of this name; a text that begins with * needs quotes`,
        );
    },
    // The schemas would ignore it silently.
    Pair: (_, { key }) => {
      if (isScalar(key) && key.value === '__proto__')
        broken.push(`${path}, line ${lineAt(key.range?.[0] ?? 0)}: nothing can be named __proto__`);
    },
  });
  mistakes.push(...broken);
  if (broken.length > 0) return undefined;
  const at = (where: readonly PropertyKey[]): string =>
    `${path}, line ${lineOf(document, lines, where)}${where.length === 0 ? '' : `: ${spell(where)}`}`;
  return { value: readValue(document, path, mistakes), refuse: (where, message) => void mistakes.push(`${at(where)}: ${message}`) };
}

/** Parses a value with a schema. Returns undefined if it does not fit, after reporting where. */
function parseWith<Schema extends z.ZodType>(schema: Schema, value: JsonObject, refuse: Refuse): z.output<Schema> | undefined {
  const result = schema.safeParse(value, { error: sayPlainly });
  if (result.success) return result.data;
  for (const issue of result.error.issues) {
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) refuse([...issue.path, key], 'unknown setting; docs/configuration.md lists the known ones');
    } else {
      refuse(issue.path, issue.code === 'invalid_key' ? PROVIDER_ID_HINT : issue.message);
    }
  }
  return undefined;
}

/** Converts the file to a plain object. An empty section counts as missing. */
function readValue(document: Document, path: string, mistakes: string[]): JsonObject {
  const value: unknown = document.toJS() ?? {};
  if (isObject(value)) return Object.fromEntries(Object.entries(value).filter(([, section]) => section !== null));
  mistakes.push(`${path}, line 1: the file must be a list of named settings, such as "limits: { concurrent: 8 }"`);
  return {};
}

/** Checks references between parts of the file. Works on the raw value, so that its mistakes are reported together with all others. */
function checkReferences(value: JsonObject, elsewhere: readonly string[], refuse: Refuse): void {
  const providers = isObject(value['providers']) ? value['providers'] : {};
  for (const [id, provider] of Object.entries(providers)) {
    if (id === SANDBOX_PROVIDER) refuse(['providers', id], 'this name belongs to the built-in sandbox');
    if (isObject(provider)) checkProvider(id, provider, refuse);
  }
  const known = new Set([SANDBOX_PROVIDER, ...Object.keys(HOSTS), ...Object.keys(providers), ...elsewhere]);
  const seen = new Set<unknown>();
  objectsIn(value['models']).forEach(({ id, routes }, index) => {
    if (typeof id === 'string' && seen.has(id)) refuse(['models', index, 'id'], 'there is another model with this id');
    seen.add(id);
    objectsIn(routes).forEach(({ provider }, place) => {
      if (typeof provider !== 'string' || known.has(provider)) return;
      // The value is not repeated: a variable in the wrong place may be a secret.
      refuse(['models', index, 'routes', place, 'provider'], `there is no such provider.${suggestName(provider, [...known])}`);
    });
  });
  const plans = objectsIn(value['plans']).map(({ id }) => id);
  plans.forEach((id, index) => {
    if (typeof id === 'string' && plans.indexOf(id) !== index) refuse(['plans', index, 'id'], 'there is another plan with this id');
  });
}

function checkProvider(id: string, provider: JsonObject, refuse: Refuse): void {
  if (provider['base_url'] === undefined && knownHost(id) === undefined) refuse(['providers', id], 'base_url is missing');
  const host = knownHost(typeof provider['like'] === 'string' ? provider['like'] : id);
  if (provider['discover'] === true && host?.addressVariable === undefined)
    refuse(['providers', id, 'discover'], `is for servers of your own (like: ${OWN_SERVERS}); other models need a price each`);
}

/** Refuses models of plans that do not exist: subscribers could not call them, and nobody would know why. */
function checkPlanModels(value: JsonObject, refuse: Refuse): void {
  const known = [...SANDBOX_MODELS, ...listedModels(), ...objectsIn(value['models'])].map(({ id }) => String(id));
  const providers = isObject(value['providers']) ? value['providers'] : {};
  // Only a server of your own knows its models.
  const isDiscovered = ([id = '']: readonly string[]): boolean =>
    knownHost(id)?.addressVariable !== undefined || (isObject(providers[id]) && providers[id]['discover'] === true);
  objectsIn(value['plans']).forEach(({ models }, plan) => {
    const named = Array.isArray(models) ? models.map(String) : [];
    for (const id of findUnknown(named, known).filter((each) => !isDiscovered(each.split('/')))) {
      const hint = suggestName(id, [...known, ...known.map(wildcardOf)]);
      refuse(['plans', plan, 'models', named.indexOf(id)], `there is no such model.${hint} List them with: models list --all`);
    }
  });
}

/** Returns a known host by its name. Safe for names that every object has, such as `constructor`. */
export function knownHost(id: string): Host | undefined {
  return Object.hasOwn(HOSTS, id) ? HOSTS[id] : undefined;
}

/** The hosts whose models can be discovered, because they are free of charge. */
const OWN_SERVERS = Object.keys(HOSTS)
  .filter((id) => HOSTS[id]?.addressVariable !== undefined)
  .join(', ');

function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.map((item) => (isObject(item) ? item : {})) : [];
}

/** Returns the line of a setting or, if it is missing, of its nearest parent in the file. */
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

/** Replaces `${NAME}` by the variable's value. Only in strings and after parsing, so that a secret cannot change the structure. */
function fillVariables(value: unknown, environment: Environment, where: PropertyKey[], refuse: Refuse): unknown {
  if (typeof value === 'string') {
    // The text itself is not repeated: a default may be a secret.
    if (value.replace(VARIABLE, '').search(BRACED) !== -1)
      refuse(where, 'only ${NAME} is replaced: write the name alone, without a default');
    return value.replace(VARIABLE, (_, name: string) => {
      const filled = environment[name];
      if (filled === undefined) refuse(where, `the environment variable ${name} is not set`);
      return filled ?? name;
    });
  }
  if (Array.isArray(value)) return value.map((item, index) => fillVariables(item, environment, [...where, index], refuse));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillVariables(item, environment, [...where, key], refuse)]));
}
