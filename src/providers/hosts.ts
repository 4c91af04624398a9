import type { Host } from './host.ts';
import { CLOUDS } from './hosts/clouds.ts';
import { MAKERS } from './hosts/makers.ts';
import { OWN_SERVERS } from './hosts/own-servers.ts';

/**
 * The known hosts. Others are added under `providers` in tollgate.yaml. Facts that could not be verified against a
 * host's own documentation this year are marked "unchecked". They err on the safe side: dropping a field rather than
 * risking a refusal.
 */
export const HOSTS: Readonly<Record<string, Host>> = { ...MAKERS, ...CLOUDS, ...OWN_SERVERS };

/** The host used when no entry describes the provider. */
export const UNKNOWN_HOST: Host = { name: 'The provider', baseUrl: '', keyVariable: '' };

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the address of a host. Undefined when the host is not enabled: its key is missing or, for a self-hosted server, its address. */
export function addressOf(host: Host, environment: Environment): string | undefined {
  const own = host.addressVariable === undefined ? '' : valueOf(environment, host.addressVariable);
  if (own !== '') return own.replace(/\/+$/u, '');
  if (valueOf(environment, host.keyVariable) === '') return undefined;
  const { address, missing } = fillAddress(host, environment);
  return missing.length === 0 ? address : undefined;
}

/** Returns the host's address with its variables filled in, and the variables that are not set. */
export function fillAddress(
  { baseUrl }: Host,
  environment: Environment,
): { readonly address: string; readonly missing: readonly string[] } {
  const missing: string[] = [];
  const address = baseUrl.replaceAll(/\{(\w+)\}/gu, (_, name: string) => {
    const value = valueOf(environment, name);
    if (value === '') missing.push(name);
    return encodeURIComponent(value);
  });
  return { address, missing };
}

/** A host whose key is set but which stays disabled, because its address needs these variables. */
export interface IncompleteHost {
  readonly id: string;
  readonly missing: readonly string[];
}

/** Lists the hosts that the environment enables only partly. */
export function incompleteHosts(environment: Environment): IncompleteHost[] {
  return Object.entries(HOSTS).flatMap(([id, host]) => {
    const { missing } = fillAddress(host, environment);
    return missing.length === 0 || valueOf(environment, host.keyVariable) === '' ? [] : [{ id, missing }];
  });
}

function valueOf(environment: Environment, name: string): string {
  return environment[name]?.trim() ?? '';
}

/** Lists the environment variables of a host: its key, its address, and the parts of its address. */
export function variablesOf({ keyVariable, addressVariable, baseUrl }: Host): readonly string[] {
  const parts = [...baseUrl.matchAll(/\{(\w+)\}/gu)].map((match) => match[1] ?? '');
  return [keyVariable, ...(addressVariable === undefined ? [] : [addressVariable]), ...parts];
}
