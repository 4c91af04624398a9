import type { Host } from './host.ts';
import { CLOUDS } from './hosts/clouds.ts';
import { MAKERS } from './hosts/makers.ts';
import { OWN_SERVERS } from './hosts/own-servers.ts';

/**
 * The known hosts. Others are added under `providers` in tollgate.yaml. Facts that could not be checked against a host's
 * own description this year are marked "unchecked"; they are of the careful kind: a field less rather than a refusal.
 */
export const HOSTS: Readonly<Record<string, Host>> = { ...MAKERS, ...CLOUDS, ...OWN_SERVERS };

/** A host that no row describes. */
export const UNKNOWN_HOST: Host = { name: 'The provider', baseUrl: '', keyVariable: '' };

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Where a host is, by the environment; undefined when it is not switched on: without its key or, for a server of your
 * own, its address.
 */
export function addressOf(host: Host, environment: Environment): string | undefined {
  const own = host.addressVariable === undefined ? '' : valueOf(environment, host.addressVariable);
  if (own !== '') return own.replace(/\/+$/u, '');
  if (valueOf(environment, host.keyVariable) === '') return undefined;
  const { address, missing } = fillAddress(host, environment);
  return missing.length === 0 ? address : undefined;
}

/** The address of a host with its parts filled in, and the variables of those that are not known. */
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

/** A host that stays off, though its key is set: these variables are missing for its address. */
export interface IncompleteHost {
  readonly id: string;
  readonly missing: readonly string[];
}

/** The hosts that an environment switches on by half. */
export function incompleteHosts(environment: Environment): IncompleteHost[] {
  return Object.entries(HOSTS).flatMap(([id, host]) => {
    const { missing } = fillAddress(host, environment);
    return missing.length === 0 || valueOf(environment, host.keyVariable) === '' ? [] : [{ id, missing }];
  });
}

function valueOf(environment: Environment, name: string): string {
  return environment[name]?.trim() ?? '';
}

/** The environment variables of a host: its key, its address, and the parts of its address. */
export function variablesOf({ keyVariable, addressVariable, baseUrl }: Host): readonly string[] {
  const parts = [...baseUrl.matchAll(/\{(\w+)\}/gu)].map((match) => match[1] ?? '');
  return [keyVariable, ...(addressVariable === undefined ? [] : [addressVariable]), ...parts];
}
