import type { TLSSocket } from 'node:tls';
import { connectTo, findImpostor } from './https-place.ts';
import { MediaFault, type MediaFaultCode } from './media-fault.ts';
import { ProtocolError } from './protocol-error.ts';
import { isCompressed, ResponseParser, type ResponseEvents, type ResponseHead } from './response-parser.ts';

/** What to fetch, and the one address to fetch it from. */
export interface Source {
  readonly url: URL;
  readonly address: string;
  readonly ca: string | undefined;
}

/** The limits of a download. */
export interface DownloadLimits {
  readonly bytesMax: number;
  /** Whether content of this type is worth reading. */
  readonly isWanted: (contentType: string) => boolean;
  /** Receives the number of bytes as they arrive. If it throws, the download ends with that error. */
  readonly onBytes: (count: number) => void;
  readonly signal: AbortSignal;
}

/** A body, and the content type that its sender states. */
export interface Downloaded {
  readonly type: 'content';
  readonly bytes: Buffer;
  readonly contentType: string;
}

/** The result of a GET: content, or another address to ask. */
export type DownloadResult = Downloaded | { readonly type: 'redirect'; readonly location: string };

const CONNECT_MS = 2000;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const WANTED = 'image/png, image/jpeg, image/webp, image/gif, application/pdf, audio/*, video/*, */*;q=0.1';

/** Sends one GET over a connection of its own to the checked address. The certificate must match the host name. */
export function download(source: Source, limits: DownloadLimits): Promise<DownloadResult> {
  return new Promise((resolve, reject) => new Download(source, limits, { resolve, reject }).start());
}

interface Ends {
  readonly resolve: (result: DownloadResult) => void;
  readonly reject: (failure: unknown) => void;
}

class Download implements ResponseEvents {
  readonly #source: Source;
  readonly #limits: DownloadLimits;
  readonly #ends: Ends;
  readonly #parser = new ResponseParser(this);
  #socket: TLSSocket | undefined;
  #connectTimer: ReturnType<typeof setTimeout> | undefined;
  #isConnected = false;
  #isOver = false;
  #contentType = '';
  #parts: Uint8Array[] = [];
  #bytes = 0;
  readonly #onAbort = (): void => this.#fail(this.#limits.signal.reason);

  constructor(source: Source, limits: DownloadLimits, ends: Ends) {
    this.#source = source;
    this.#limits = limits;
    this.#ends = ends;
  }

  start(): void {
    const { url, address, ca } = this.#source;
    const { signal } = this.#limits;
    if (signal.aborted) return this.#onAbort();
    signal.addEventListener('abort', this.#onAbort, { once: true });
    this.#connectTimer = setTimeout(() => this.#fail(new MediaFault('UNCONNECTED')), CONNECT_MS);
    const socket = connectTo(url, address, ca);
    this.#socket = socket;
    socket.on('secureConnect', () => this.#ask(socket));
    socket.on('data', (bytes: Buffer) => this.#try(() => this.#parser.push(bytes)));
    socket.on('end', () => this.#try(() => this.#parser.close()));
    socket.on('error', (error) => this.#fail(this.#fault('PROTOCOL', error)));
    socket.on('close', () => this.#fail(this.#fault('PROTOCOL')));
  }

  onHead(head: ResponseHead): void {
    const { status, headers } = head;
    const location = headers.get('location');
    if (REDIRECTS.has(status) && location !== undefined) return this.#finish({ type: 'redirect', location });
    if (status !== 200) throw new MediaFault('STATUS');
    if (isCompressed(head)) throw new MediaFault('ENCODING');
    this.#contentType = headers.get('content-type') ?? '';
    if (!this.#limits.isWanted(this.#contentType)) throw new MediaFault('TYPE');
    if (Number(headers.get('content-length') ?? 0) > this.#limits.bytesMax) throw new MediaFault('TOO_LARGE');
  }

  onBody(bytes: Buffer, start: number, end: number): void {
    if (this.#isOver) return;
    this.#bytes += end - start;
    if (this.#bytes > this.#limits.bytesMax) throw new MediaFault('TOO_LARGE');
    this.#limits.onBytes(end - start);
    this.#parts.push(bytes.subarray(start, end));
  }

  onEnd(): void {
    this.#finish({ type: 'content', bytes: Buffer.concat(this.#parts, this.#bytes), contentType: this.#contentType });
  }

  #ask(socket: TLSSocket): void {
    const problem = findImpostor(socket, this.#source.url);
    if (problem !== undefined) return this.#fail(this.#fault('PROTOCOL', problem));
    clearTimeout(this.#connectTimer);
    this.#isConnected = true;
    this.#parser.begin();
    const { host, pathname, search } = this.#source.url;
    socket.write(
      `GET ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\nuser-agent: tollgate\r\naccept: ${WANTED}\r\naccept-encoding: identity\r\nconnection: close\r\n\r\n`,
    );
  }

  /** Creates the fault. Before there is a connection, every failure means only that there is none. */
  #fault(code: MediaFaultCode, cause?: unknown): MediaFault {
    return new MediaFault(this.#isConnected ? code : 'UNCONNECTED', cause);
  }

  #try(step: () => void): void {
    if (this.#isOver) return;
    try {
      step();
    } catch (error) {
      // Errors thrown by a limit are kept. Anything else means that the response cannot be read.
      this.#fail(error instanceof ProtocolError ? this.#fault('PROTOCOL', error) : error);
    }
  }

  #finish(result: DownloadResult): void {
    if (this.#close()) this.#ends.resolve(result);
  }

  #fail(failure: unknown): void {
    if (this.#close()) this.#ends.reject(failure);
  }

  /** Ends the download and releases its memory. Returns true the first time only. */
  #close(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    clearTimeout(this.#connectTimer);
    this.#limits.signal.removeEventListener('abort', this.#onAbort);
    this.#parts = [];
    this.#socket?.destroy();
    return true;
  }
}
