import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { download, type DownloadResult, type DownloadLimits, type Downloaded } from './download.ts';
import { hostOf, HTTPS_PORT, portOf } from './https-place.ts';
import { MediaFault } from './media-fault.ts';
import { isPublicAddress } from './public-address.ts';

/** The network that URLs chosen by others may lead to: for media, and for webhooks. Only tests use another one than the public internet. */
export interface Reach {
  /** Returns every address of a name, looked up once: the addresses checked are the addresses connected to. */
  resolve(host: string, signal: AbortSignal): Promise<readonly string[]>;
  allows(address: string, port: number): boolean;
  /** Certificates to trust instead of the system's, in PEM. */
  readonly ca?: string;
}

/** Allows public addresses on the https port. */
export const PUBLIC_INTERNET: Reach = {
  resolve: resolveName,
  allows: (address, port) => port === HTTPS_PORT && isPublicAddress(address),
};

/** What to fetch, and when to stop. */
export interface FetchOptions extends DownloadLimits {
  readonly reach: Reach;
  /** Ends the fetch early, with its reason. */
  readonly signal: AbortSignal;
}

/** The limit for name lookups, redirects and the body together. */
export const FETCH_MS_MAX = 5000;
export const REDIRECTS_MAX = 3;
/** A host may have one address that does not respond. A host with many such addresses is not waited for. */
export const ADDRESSES_TRIED_MAX = 3;
const URL_CHARACTERS_MAX = 4096;
const RESOLVE_MS = 2000;

/**
 * Fetches a URL of the client's choice. This and post-webhook.ts are the only outgoing requests whose addresses do not come from the
 * settings. The code here decides which addresses are allowed, for both.
 */
export async function fetchMedia(address: string, options: FetchOptions): Promise<Downloaded> {
  const deadline = AbortSignal.timeout(FETCH_MS_MAX);
  const bounded = { ...options, signal: AbortSignal.any([options.signal, deadline]) };
  try {
    return await follow(parseAddress(address), bounded);
  } catch (error) {
    if (options.signal.aborted) throw options.signal.reason;
    throw deadline.aborted ? new MediaFault('TIMEOUT') : error;
  }
}

/** Follows redirects. Each step is checked like the first, and its name is looked up again. */
async function follow(first: URL, options: FetchOptions): Promise<Downloaded> {
  let url = first;
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
    const answer = await ask(url, options);
    if (answer.type === 'content') return answer;
    url = parseAddress(answer.location, url);
  }
  throw new MediaFault('REDIRECTS');
}

function parseAddress(text: string, base?: URL): URL {
  if (text.length > URL_CHARACTERS_MAX || !URL.canParse(text, base)) throw new MediaFault('ADDRESS');
  const url = new URL(text, base);
  if (url.protocol !== 'https:') throw new MediaFault('NOT_HTTPS');
  if (url.username !== '' || url.password !== '') throw new MediaFault('CREDENTIALS');
  return url;
}

/** Asks a host at one of its addresses. The next one is tried only if no connection was made, so the request was not sent. */
async function ask(url: URL, options: FetchOptions): Promise<DownloadResult> {
  const addresses = await findAddresses(url, options);
  options.signal.throwIfAborted();
  if (addresses === undefined) throw new MediaFault('ADDRESS_REFUSED');
  let failure: unknown = new MediaFault('NO_ADDRESS');
  for (const address of addresses.slice(0, ADDRESSES_TRIED_MAX)) {
    try {
      return await download({ url, address, ca: options.reach.ca }, options);
    } catch (error) {
      if (!(error instanceof MediaFault) || error.code !== 'UNCONNECTED') throw error;
      failure = error;
    }
  }
  throw failure;
}

/**
 * Returns the addresses of a host; undefined if one of them is not allowed. One is enough to refuse the host: nobody honest mixes
 * public and private addresses.
 */
export async function findAddresses(
  url: URL,
  { reach, signal }: Pick<FetchOptions, 'reach' | 'signal'>,
): Promise<readonly string[] | undefined> {
  const host = hostOf(url);
  const addresses = isIP(host) === 0 ? await reach.resolve(host, signal) : [host];
  return addresses.every((address) => reach.allows(address, portOf(url))) ? alternateFamilies(addresses) : undefined;
}

/** Alternates between IPv4 and IPv6: only a few addresses are tried, and this machine may reach only one of the two networks. */
function alternateFamilies(addresses: readonly string[]): readonly string[] {
  const four = addresses.filter((address) => isIP(address) === 4);
  const six = addresses.filter((address) => isIP(address) !== 4);
  return addresses.flatMap((_, index) => [...four.slice(index, index + 1), ...six.slice(index, index + 1)]);
}

/** Asks the name servers directly: local names of this machine and its network do not count here. */
async function resolveName(host: string, signal: AbortSignal): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: RESOLVE_MS, tries: 2 });
  const cancel = (): void => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}
