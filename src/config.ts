import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import type { Plan } from './accounts/plans.ts';
import { signInVariables, toSignInProviders, type SignInProvider } from './accounts/sign-in-settings.ts';
import { modelSchema, type Model } from './catalog/catalog.ts';
import { listedModels } from './catalog/list-prices.ts';
import type { KeyLimits } from './limits/limits.ts';
import { toPaymentsConfig, type PaymentsConfig } from './payments/payment-settings.ts';
import { sayPlainly } from './plain-words.ts';
import { addressOf, fillAddress, HOSTS, incompleteHosts, type IncompleteHost } from './providers/hosts.ts';
import { parseServiceAccount, type ServiceAccount } from './providers/vertex/service-account.ts';
import type { Host } from './providers/host.ts';
import type { DialectName } from './providers/dialect-names.ts';
import type { AwsCredentials } from './providers/dialect.ts';
import { SANDBOX_MODELS, SANDBOX_PROVIDER } from './providers/sandbox.ts';
import { addressSchema, credentialSchema, knownHost, readSettingsFile, type Environment, type Settings } from './settings.ts';

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
  readonly dialect: DialectName;
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  /** Where its credential comes from: the name of a variable, or `tollgate.yaml`. */
  readonly credential: string | undefined;
  /** How a known host differs from its dialect. */
  readonly host: Host | undefined;
  readonly apiVersion: string | undefined;
  readonly aws: AwsCredentials | undefined;
  /** Credentials for fetching access tokens, if a key is not enough. */
  readonly serviceAccount: ServiceAccount | undefined;
  /** True for a self-hosted server whose models are read from its own list and are free of charge. */
  readonly discovers: boolean;
}

/** All settings, validated and frozen. */
export interface Config {
  readonly host: string;
  readonly port: number;
  readonly publicUrl: string | undefined;
  readonly dataFolder: string;
  readonly databasePath: string;
  /** PostgreSQL's address; undefined for the embedded database. */
  readonly databaseUrl: string | undefined;
  /** Redis, which counts the limits of all nodes together; undefined if each node counts its own. */
  readonly redisUrl: string | undefined;
  /** How long a request waits for Redis. */
  readonly redisMs: number;
  readonly logLevel: string;
  /** The settings file named in the environment; undefined for the default one. */
  readonly settingsFile: string | undefined;
  readonly providers: ReadonlyMap<string, ProviderConfig>;
  /** Known hosts that stay off although their key is set. The log tells the operator what is missing. */
  readonly incompleteHosts: readonly IncompleteHost[];
  readonly models: readonly Model[];
  /** The sandbox and catalogue models, before the settings file replaces some. */
  readonly shippedModels: readonly Model[];
  /** The limits of keys without their own, and how many requests all keys of an account may have open together. */
  readonly limits: KeyLimits & { readonly accountConcurrent: number };
  /** The memory from which on new requests are refused; undefined for a share of what there is. */
  readonly memoryBytes: number | undefined;
  readonly timeouts: Timeouts;
  /** Whether media given by address is fetched for providers that do not fetch it themselves. */
  readonly fetchesMedia: boolean;
  /** How many days usage rows are kept; undefined means for ever. */
  readonly usageDays: number | undefined;
  /** The token that `/metrics` requires; undefined if it is available only on this machine. */
  readonly metricsToken: string | undefined;
  /** The mail server; undefined if emails are printed instead. */
  readonly smtpUrl: string | undefined;
  readonly mailFrom: string;
  /** Who may sign up: everybody, people with an invitation, or nobody. */
  readonly signUp: Settings['accounts']['sign_up'];
  /** Credit for a new account once its address is verified. */
  readonly signUpCreditUsd: string;
  /** External sign-in providers. */
  readonly signInProviders: readonly SignInProvider[];
  /** Signs the dashboard's cookies and links; undefined for the secret stored in the database. */
  readonly secret: string | undefined;
  /** Networks of proxies whose `x-forwarded-for` is trusted. */
  readonly trustedProxies: readonly string[];
  readonly payments: PaymentsConfig;
  /** The plans of the settings file; others may exist in the database. */
  readonly plans: readonly Plan[];
}

/** Lists every mistake in the settings. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  constructor(mistakes: readonly string[]) {
    super(
      `The settings have ${mistakes.length === 1 ? 'a mistake' : `${mistakes.length} mistakes`}:\n${mistakes.map((mistake) => `  - ${mistake}`).join('\n')}`,
    );
  }
}

/** Reads the environment and the settings file into one frozen object. Throws one error that lists every mistake. */
export function loadConfig(environment: Environment): Config {
  const mistakes: string[] = [];
  const variables = readEnvironment(environment, mistakes);
  const file = readSettingsFile(environment, mistakes);
  const providers = collectProviders(file, environment, mistakes);
  const shippedModels = readShippedModels();
  const signInProviders = toSignInProviders(file.accounts.sign_in, variables, mistakes);
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return deepFreeze({
    host: variables.HOST,
    port: variables.PORT,
    publicUrl: variables.PUBLIC_URL,
    dataFolder: resolve(variables.TOLLGATE_DATA),
    databasePath: join(resolve(variables.TOLLGATE_DATA), 'tollgate.db'),
    databaseUrl: variables.DATABASE_URL,
    redisUrl: variables.REDIS_URL,
    redisMs: file.timeouts.redis_ms,
    logLevel: variables.TOLLGATE_LOG_LEVEL,
    settingsFile: variables.TOLLGATE_CONFIG,
    providers,
    incompleteHosts: incompleteHosts(environment).filter(({ id }) => !providers.has(id)),
    models: collectModels(shippedModels, file),
    shippedModels,
    limits: toLimits(file.limits),
    memoryBytes: file.limits.memory_mb === undefined ? undefined : file.limits.memory_mb * 1_000_000,
    timeouts: toTimeouts(file.timeouts),
    fetchesMedia: file.media.fetch,
    usageDays: file.retention.usage_days,
    metricsToken: variables.TOLLGATE_METRICS_TOKEN,
    smtpUrl: variables.SMTP_URL,
    mailFrom: file.accounts.mail_from,
    signUp: file.accounts.sign_up,
    signUpCreditUsd: String(file.accounts.sign_up_credit_usd),
    signInProviders,
    secret: variables.TOLLGATE_SECRET,
    trustedProxies: file.http.trusted_proxies,
    payments: toPaymentsConfig(file.payments, variables),
    plans: file.plans,
  });
}

/** These mean every interface, and are no address that a browser could open. */
const EVERY_INTERFACE = new Set(['0.0.0.0', '::']);

/** Returns the public address of the service, without a path. Unless it is set, it is one that works on this machine. */
export function publicUrlOf({ publicUrl, host }: Config, port: number): string {
  const name = EVERY_INTERFACE.has(host) ? '127.0.0.1' : host;
  return publicUrl ?? `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

const EMPTY_SECRET =
  "must be the signing secret of Stripe's webhook, such as whsec_…. With an empty secret anybody could forge payments: unset the variable to run without the webhook";
const SHORT_SECRET =
  "must have at least 16 characters. Copy the whole signing secret (whsec_…) from the webhook's page in Stripe's dashboard";

const PUBLIC_URL_HINT = 'must be an http or https address without a path, such as https://gate.example.com';

/** Returns true for an address without a path. Pages and the API are served at the root, so links below a path would not work. */
function isOrigin(address: string): boolean {
  const { origin, href } = new URL(address);
  return href === `${origin}/`;
}

/** The environment variables, except for provider keys. A test checks that docs/configuration.md lists them. */
export const environmentSchema = z.object({
  // An IPv6 address may be written in brackets, as in URLs.
  HOST: z
    .string()
    .trim()
    .transform((host) => host.replace(/^\[(.*)\]$/u, '$1'))
    .default('127.0.0.1'),
  PORT: z.coerce.number('must be a number from 0 to 65535').int().min(0).max(65_535).default(8787),
  PUBLIC_URL: z
    .url({ protocol: /^https?$/, error: PUBLIC_URL_HINT, abort: true })
    .refine(isOrigin, PUBLIC_URL_HINT)
    .transform((address) => new URL(address).origin)
    .optional(),
  TOLLGATE_DATA: z.string().default('./data'),
  TOLLGATE_CONFIG: z.string().optional(),
  TOLLGATE_LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
  TOLLGATE_METRICS_TOKEN: z.string().trim().min(16, 'must have at least 16 characters').optional(),
  TOLLGATE_SECRET: z.string().min(32, 'must have at least 32 characters').optional(),
  DATABASE_URL: z
    .url({ protocol: /^postgres(?:ql)?$/, error: 'must be an address such as postgres://user:password@host:5432/tollgate' })
    .optional(),
  REDIS_URL: z.url({ protocol: /^rediss?$/, error: 'must be an address such as redis://:password@host:6379' }).optional(),
  SMTP_URL: z.url({ protocol: /^smtps?$/, error: 'must be an address such as smtps://user:password@mail.example.com' }).optional(),
  ...signInVariables,
  STRIPE_SECRET_KEY: z
    .string()
    .trim()
    .regex(/^(?!pk_).{8,}$/u, 'must be a secret key of Stripe, such as sk_live_…')
    .optional(),
  STRIPE_WEBHOOK_SECRET: z.string().trim().min(1, { error: EMPTY_SECRET, abort: true }).min(16, SHORT_SECRET).optional(),
});

function readEnvironment(environment: Environment, mistakes: string[]): z.output<typeof environmentSchema> {
  // Many tools set a variable to empty to mean "not set". For the secret that verifies payments, empty is a mistake.
  const present = Object.fromEntries(
    Object.entries(environment).filter(([name, value]) => value?.trim() !== '' || name === 'STRIPE_WEBHOOK_SECRET'),
  );
  const result = environmentSchema.safeParse(present, { error: sayPlainly });
  if (result.success) return result.data;
  for (const issue of result.error.issues) {
    const name = String(issue.path[0]);
    mistakes.push(`environment variable ${name}: ${issue.message}`);
  }
  return environmentSchema.parse({});
}

/** Returns the sandbox, every known host that the environment enables, and the providers that the file adds or changes. */
function collectProviders(settings: Settings, environment: Environment, mistakes: string[]): Map<string, ProviderConfig> {
  const defaults = { host: undefined, apiVersion: undefined, aws: undefined, serviceAccount: undefined, discovers: false } as const;
  const noKey = { apiKey: undefined, credential: undefined } as const;
  const providers = new Map<string, ProviderConfig>([
    [SANDBOX_PROVIDER, { ...defaults, id: SANDBOX_PROVIDER, dialect: 'sandbox', baseUrl: '', ...noKey }],
  ]);
  for (const [id, host] of Object.entries(HOSTS)) {
    const baseUrl = addressOf(host, environment);
    if (baseUrl === undefined) continue;
    if (host.addressVariable !== undefined) readVariable(host.addressVariable, addressSchema, environment, mistakes);
    const facts = { baseUrl, discovers: host.addressVariable !== undefined, ...readKey(host, environment, mistakes) };
    providers.set(id, { ...defaults, ...facts, id, host, dialect: host.dialect ?? 'openai' });
  }
  for (const [id, entry] of Object.entries(settings.providers)) {
    const host = knownHost(entry.like ?? id);
    // A known host with an incomplete address is not in the list yet, but its key may be set.
    const known: Partial<ProviderConfig> = providers.get(id) ?? readKey(knownHost(id), environment, mistakes);
    const address = entry.region === undefined ? known.baseUrl : undefined;
    const baseUrl = entry.base_url ?? address ?? readAddress(id, entry, environment, mistakes);
    providers.set(id, {
      id,
      host,
      dialect: entry.dialect ?? host?.dialect ?? 'openai',
      baseUrl: baseUrl.replace(/\/+$/, ''),
      apiKey: entry.api_key ?? known.apiKey,
      credential: CREDENTIALS.some((name) => entry[name] !== undefined) ? SETTINGS_FILE : known.credential,
      apiVersion: entry.api_version,
      aws: readAws(entry),
      serviceAccount: readServiceAccount(id, entry.service_account, mistakes),
      discovers: entry.discover ?? known.discovers ?? false,
    });
  }
  return providers;
}

/** Reads the key of a known host from its variable. */
function readKey(host: Host | undefined, environment: Environment, mistakes: string[]): Pick<ProviderConfig, 'apiKey' | 'credential'> {
  const apiKey = host === undefined ? undefined : readVariable(host.keyVariable, credentialSchema, environment, mistakes);
  return { apiKey, credential: apiKey === undefined ? undefined : host?.keyVariable };
}

/** Returns the address of a known host that the file enables without an address. Signed requests go to their region. */
function readAddress(id: string, { like, region }: Settings['providers'][string], environment: Environment, mistakes: string[]): string {
  const host = knownHost(like ?? id);
  if (host === undefined) return '';
  const { address, missing } = fillAddress(host, region === undefined ? environment : { ...environment, AWS_REGION: region });
  if (missing.length > 0)
    mistakes.push(`providers.${id}: base_url is missing; give it, or set the environment variable ${missing.join(' and ')}`);
  return address;
}

/** Reads a host's variable. Returns undefined if it is not set or not valid. */
function readVariable(name: string, schema: z.ZodType<string>, environment: Environment, mistakes: string[]): string | undefined {
  const value = environment[name]?.trim() ?? '';
  if (value === '') return undefined;
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  mistakes.push(`environment variable ${name}: ${result.error.issues[0]?.message}`);
  return undefined;
}

const CREDENTIALS = ['api_key', 'access_key_id', 'service_account'] as const;
const SETTINGS_FILE = 'tollgate.yaml';

function readAws({ access_key_id, secret_access_key, session_token, region }: Settings['providers'][string]): AwsCredentials | undefined {
  if (access_key_id === undefined || secret_access_key === undefined || region === undefined) return undefined;
  return { accessKeyId: access_key_id, secretAccessKey: secret_access_key, sessionToken: session_token, region };
}

function readServiceAccount(id: string, path: string | undefined, mistakes: string[]): ServiceAccount | undefined {
  if (path === undefined) return undefined;
  try {
    return parseServiceAccount(readFileSync(path, 'utf8'));
  } catch (error) {
    // The path is not repeated, nor is the system's message, which contains it: somebody may have put the key file's content here.
    const { code, message } = error as NodeJS.ErrnoException;
    mistakes.push(`providers.${id}.service_account: must be the path of a key file, and this one cannot be used (${code ?? message})`);
    return undefined;
  }
}

/** Returns the models of the sandbox and of the catalogue. */
function readShippedModels(): Model[] {
  return [...SANDBOX_MODELS.map((entry) => modelSchema.parse(entry)), ...listedModels()];
}

/** Returns the shipped models and the file's, which replace shipped ones of the same id. */
function collectModels(shippedModels: readonly Model[], settings: Settings): Model[] {
  return [...new Map([...shippedModels, ...settings.models].map((model) => [model.id, model])).values()];
}

function toLimits(limits: Settings['limits']): Config['limits'] {
  return {
    requestsPerMinute: limits.requests_per_minute,
    tokensPerMinute: limits.tokens_per_minute,
    concurrent: limits.concurrent,
    accountConcurrent: limits.account_concurrent,
  };
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
