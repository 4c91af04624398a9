import { isObject } from './openai/types.ts';
import { HOSTS } from './providers/hosts.ts';
import type { DialectName } from './providers/dialect-names.ts';
import { lookUp } from './providers/look-up.ts';

/** Requests to AWS are signed with all of these; without the keys they carry an API key, and the region is part of the address. */
const SIGNING = ['access_key_id', 'secret_access_key', 'region'];
const CREDENTIALS = ['service_account', 'access_key_id', 'api_key'];

/** The settings that not every dialect uses. */
const USED: Readonly<Record<Exclude<DialectName, 'sandbox'>, readonly string[]>> = {
  openai: ['api_key'],
  anthropic: ['api_key'],
  'anthropic-vertex': ['service_account', 'api_key'],
  gemini: ['api_key'],
  'gemini-vertex': ['service_account', 'api_key'],
  bedrock: [...SIGNING, 'session_token', 'api_key'],
  azure: ['api_key', 'api_version'],
};
const NAMES = [...new Set(Object.values(USED).flat())];
const OPEN = new Set(['region', 'api_version']);

/** Addresses that answer nobody without a credential: those of the known hosts, and of Vertex. Others may be proxies that add one. */
const GUARDED = [
  ...Object.values(HOSTS).flatMap(({ addressVariable, baseUrl }) => (addressVariable === undefined ? [patternOf(baseUrl)] : [])),
  /(?:^|\.|-)aiplatform\.(?:\w+\.rep\.)?googleapis\.com$/u,
];

function patternOf(baseUrl: string): RegExp {
  const { hostname } = new URL(baseUrl.replaceAll(/\{\w+\}/gu, 'any'));
  return new RegExp(`^${hostname.replaceAll('.', '\\.').replace(/\bany\b/u, '[^.]+')}$`, 'u');
}

/**
 * Refuses credentials that the dialect of their provider would ignore or, worse, send to a host that they are not for, and missing
 * ones. Works on the raw value of the file, like all checks of more than one setting.
 */
export function checkProviderSettings(
  providers: unknown,
  environment: Readonly<Record<string, string | undefined>>,
  refuse: (where: PropertyKey[], message: string) => void,
): void {
  for (const [id, provider] of Object.entries(isObject(providers) ? providers : {})) {
    if (!isObject(provider)) continue;
    const dialect = provider['dialect'] ?? lookUp(HOSTS, provider['like'] ?? id)?.dialect ?? 'openai';
    const used = lookUp(USED, dialect);
    // Another dialect is reported by the schema.
    if (typeof dialect !== 'string' || used === undefined) continue;
    const given = NAMES.filter((name) => provider[name] !== undefined);
    for (const name of given.filter((each) => !used.includes(each)))
      refuse(['providers', id, name], `is not for the dialect ${dialect}, which takes ${used.join(', ')}`);
    for (const message of mistakesIn(given.filter((name) => used.includes(name)))) refuse(['providers', id], message);
    const variable = lookUp(HOSTS, id)?.keyVariable ?? '';
    const isGiven = given.some((name) => !OPEN.has(name)) || (environment[variable]?.trim() ?? '') !== '';
    if (!isGiven && isGuarded(id, provider['base_url'])) refuse(['providers', id], sayMissing(used, variable));
  }
}

/** Returns what is wrong about the credentials together: half of those that sign requests, or two of which one would be ignored. */
function mistakesIn(given: readonly string[]): string[] {
  const missing = SIGNING.filter((name) => !given.includes(name));
  const credentials = CREDENTIALS.filter((name) => given.includes(name));
  const isSigned = ['access_key_id', 'secret_access_key', 'session_token'].some((name) => given.includes(name));
  return [
    ...(isSigned && missing.length > 0
      ? [`${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} missing: requests are signed with all three`]
      : []),
    ...(credentials.length > 1 ? [`has ${credentials.join(' and ')}, but requests carry only one: remove the other`] : []),
  ];
}

function isGuarded(id: string, address: unknown): boolean {
  const host = lookUp(HOSTS, id);
  if (address === undefined) return host !== undefined && host.addressVariable === undefined;
  const name = typeof address === 'string' ? (URL.parse(address)?.hostname ?? '') : '';
  return GUARDED.some((pattern) => pattern.test(name));
}

function sayMissing(used: readonly string[], variable: string): string {
  const names = CREDENTIALS.filter((name) => used.includes(name)).join(' or ');
  return `has no credential: give ${names}${variable === '' ? '' : `, or set the environment variable ${variable}`}`;
}
