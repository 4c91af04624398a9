import type { TLSSocket } from 'node:tls';
import { ADDRESSES_TRIED_MAX, findAddresses, type Reach } from './fetch-media.ts';
import { connectTo, findImpostor } from './https-place.ts';
import { ResponseParser, type ResponseHead } from './response-parser.ts';

/** A message to post, and the URL to post it to. */
export interface Posting {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The limit for name lookup, connection and response together. */
const POST_MS_MAX = 10_000;
const URL_CHARACTERS_MAX = 2000;
const LATE = `There was no answer within ${POST_MS_MAX / 1000} seconds.`;

/**
 * Posts to a URL that a person chose. Returns a message when that fails, and undefined otherwise. Only https and only addresses of the
 * public internet are allowed; they are looked up once and connected to as checked. Redirects are not followed. Only the status of the
 * response is reported, so nobody can use us to read what an address returns.
 */
export async function postWebhook(posting: Posting, reach: Reach): Promise<string | undefined> {
  const url = parseWebhookUrl(posting.url);
  if (url === undefined) return 'The address must begin with https:// and have no password.';
  const signal = AbortSignal.timeout(POST_MS_MAX);
  const addresses = await findAddresses(url, { reach, signal });
  if (signal.aborted) return LATE;
  if (addresses === undefined) return 'The address is not on the public internet, at port 443.';
  if (addresses.length === 0) return 'The host name could not be resolved.';
  for (const address of addresses.slice(0, ADDRESSES_TRIED_MAX)) {
    const result = await new Promise<PostResult>((resolve) => new WebhookPost(url, posting, resolve).start(address, reach.ca, signal));
    if (signal.aborted) return LATE;
    if (result === 'unsent') continue;
    if (result === 'unanswered') break;
    return result >= 200 && result < 300 ? undefined : `The answer had status ${result}.`;
  }
  return 'The connection failed.';
}

/** The status of the answer. Without an answer, only a posting that was not sent may go to another address. */
type PostResult = number | 'unsent' | 'unanswered';

/** Parses a webhook URL; undefined when its text alone shows that it may not be called. */
export function parseWebhookUrl(text: string): URL | undefined {
  if (text.length > URL_CHARACTERS_MAX || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.protocol === 'https:' && url.username === '' && url.password === '' ? url : undefined;
}

/** One POST over a connection of its own. The certificate must match the host name. */
class WebhookPost {
  readonly #url: URL;
  readonly #posting: Posting;
  readonly #resolve: (result: PostResult) => void;
  readonly #parser: ResponseParser;
  #socket: TLSSocket | undefined;
  #isSent = false;

  constructor(url: URL, posting: Posting, resolve: (result: PostResult) => void) {
    this.#url = url;
    this.#posting = posting;
    this.#resolve = resolve;
    this.#parser = new ResponseParser({
      onHead: ({ status }: ResponseHead) => this.#end(status),
      onBody: () => undefined,
      onEnd: () => undefined,
    });
  }

  start(address: string, ca: string | undefined, signal: AbortSignal): void {
    const socket = connectTo(this.#url, address, ca);
    this.#socket = socket;
    signal.addEventListener('abort', () => this.#end(undefined), { once: true });
    socket.on('secureConnect', () => this.#send(socket));
    socket.on('data', (bytes: Buffer) => this.#receive(bytes));
    socket.on('error', () => this.#end(undefined));
    socket.on('close', () => this.#end(undefined));
  }

  #send(socket: TLSSocket): void {
    if (findImpostor(socket, this.#url) !== undefined) return this.#end(undefined);
    const { host, pathname, search } = this.#url;
    const { headers, body } = this.#posting;
    const lines = Object.entries({
      host,
      'user-agent': 'tollgate',
      ...headers,
      'content-length': String(Buffer.byteLength(body)),
      connection: 'close',
    });
    this.#parser.begin();
    this.#isSent = true;
    socket.write(`POST ${pathname}${search} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`);
  }

  #receive(bytes: Buffer): void {
    try {
      this.#parser.push(bytes);
    } catch {
      // A response that cannot be read counts as none.
      this.#end(undefined);
    }
  }

  /** Ends the post. Only the first end counts, because a promise resolves once. */
  #end(status: number | undefined): void {
    this.#resolve(status ?? (this.#isSent ? 'unanswered' : 'unsent'));
    this.#socket?.destroy();
  }
}
