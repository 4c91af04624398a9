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

/**
 * Where a host is, by the environment; undefined when it is not switched on: without its key or, for a server of your
 * own, its address.
 */
export function addressOf(host: Host, environment: Readonly<Record<string, string | undefined>>): string | undefined {
  const own = host.addressVariable === undefined ? undefined : environment[host.addressVariable]?.trim();
  if (own !== undefined && own !== '') return own.replace(/\/+$/u, '');
  if ((environment[host.keyVariable] ?? '').trim() === '') return undefined;
  let isWhole = true;
  const address = host.baseUrl.replaceAll(/\{(\w+)\}/gu, (_, name: string) => {
    const value = environment[name]?.trim() ?? '';
    isWhole &&= value !== '';
    return encodeURIComponent(value);
  });
  return isWhole ? address : undefined;
}

/** The environment variables of a host: its key, its address, and the parts of its address. */
export function variablesOf({ keyVariable, addressVariable, baseUrl }: Host): readonly string[] {
  const parts = [...baseUrl.matchAll(/\{(\w+)\}/gu)].map((match) => match[1] ?? '');
  return [keyVariable, ...(addressVariable === undefined ? [] : [addressVariable]), ...parts];
}
