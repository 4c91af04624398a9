import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { download, type Answer, type DownloadLimits, type Downloaded } from './download.ts';
import { hostOf, HTTPS_PORT, portOf } from './https-place.ts';
import { MediaFault } from './media-fault.ts';
import { isPublicAddress } from './public-address.ts';

/** Who may be asked at an address of somebody's choice: for media, and with webhooks. Only tests have another one than the public internet. */
export interface Reach {
  /** Every address of a name, looked up once: what is checked is what is connected to. */
  resolve(host: string, signal: AbortSignal): Promise<readonly string[]>;
  allows(address: string, port: number): boolean;
  /** Certificates to trust instead of the system's, in PEM. */
  readonly ca?: string;
}

export const PUBLIC_INTERNET: Reach = {
  resolve: resolveName,
  allows: (address, port) => port === HTTPS_PORT && isPublicAddress(address),
};

/** What is fetched, and when to stop. */
export interface FetchOptions extends DownloadLimits {
  readonly reach: Reach;
  /** Ends the fetch early, with its reason. */
  readonly signal: AbortSignal;
}

/** Names, redirects and the body together. */
export const FETCH_MS_MAX = 5000;
export const REDIRECTS_MAX = 3;
/** A host may have one address that does not answer; one with many of them is not waited for. */
const ADDRESSES_TRIED_MAX = 3;
const URL_CHARACTERS_MAX = 4096;
const RESOLVE_MS = 2000;

/**
 * Fetches what an address of the caller's choice gives. This and post-webhook.ts are the only ways to the outside whose
 * addresses are not from the settings: which of them are allowed is decided here, for both.
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

/** Each step of a redirect is checked like the first, and looked up anew. */
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

/** Asks a host at one of its addresses. The next one is tried only where nobody was there to hear the request. */
async function ask(url: URL, options: FetchOptions): Promise<Answer> {
  const addresses = await findAddresses(url, options);
  options.signal.throwIfAborted();
  if (addresses === undefined) throw new MediaFault('ADDRESS_REFUSED');
  let failure: unknown = new MediaFault('NO_ADDRESS');
  for (const address of addresses.slice(0, ADDRESSES_TRIED_MAX)) {
    try {
      return await download({ url, address, port: portOf(url), ca: options.reach.ca }, options);
    } catch (error) {
      if (!(error instanceof MediaFault) || error.code !== 'UNCONNECTED') throw error;
      failure = error;
    }
  }
  throw failure;
}

/** Where a host may be asked; undefined where it may not. One address that is not allowed is enough: nobody honest mixes public and private ones. */
export async function findAddresses(
  url: URL,
  { reach, signal }: Pick<FetchOptions, 'reach' | 'signal'>,
): Promise<readonly string[] | undefined> {
  const host = hostOf(url);
  const addresses = isIP(host) === 0 ? await reach.resolve(host, signal) : [host];
  return addresses.every((address) => reach.allows(address, portOf(url))) ? addresses : undefined;
}

/** Asks the name servers themselves: names of this machine and of its neighbours mean nothing here. */
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
