import type { ProviderConfig } from '../config.ts';
import { GatewayError } from '../errors.ts';
import { fetchMedia, FETCH_MS_MAX, REDIRECTS_MAX, type Reach } from '../http/fetch-media.ts';
import { MediaFault, type MediaFaultCode } from '../http/media-fault.ts';
import type { ChatRequest } from '../openai/types.ts';
import { DIALECTS } from '../providers/dialects.ts';
import type { Dialect } from '../providers/dialect.ts';
import { holdBody } from './body-memory.ts';
import type { Call } from './call.ts';
import type { Dispatch } from './dispatch.ts';
import { toCallerError } from './faults.ts';
import type { Gate } from './gate.ts';
import { findMedia, replaceMedia, type MediaPlace } from './media-places.ts';
import { kindsOfType, recogniseMedia, type MediaKind } from '../providers/media-types.ts';

/** The options of one inlining. */
export interface InlineOptions {
  readonly reach: Reach;
  /** As in Gate. */
  readonly waiting: Gate['waitingForMedia'];
  /** Ends all fetches, with its reason. */
  readonly signal: AbortSignal;
  /** True for URLs that the provider fetches itself. */
  readonly fetchesItself?: ((url: string) => boolean) | undefined;
  /** Counts bytes that the media takes, or with a negative number frees them. May throw to refuse them. */
  readonly hold: (bytes: number) => void;
}

/** How many different URLs one request may name, each of which may take some seconds. */
export const ADDRESSES_MAX = 16;
const PARALLEL_MAX = 4;
export const FILE_BYTES_MAX = 10_000_000;
/** The media added to one request. In base64 that is as much as a client could have sent inline. */
export const REQUEST_BYTES_MAX = 15_000_000;
/** A limit over all requests: clients must not take all sockets. */
export const WAITING_MAX = 256;

/** Whether a request names media that must be fetched for its provider. Cheap, because most providers and requests need nothing. */
export function mustInline({ config }: Gate, { chat }: Dispatch, { dialect, host }: ProviderConfig): boolean {
  const { needsInlineMedia = host?.request?.needsInlineMedia, fetchesItself } = DIALECTS[dialect];
  return needsInlineMedia === true && config.fetchesMedia && findMedia(chat, fetchesItself).length > 0;
}

/**
 * Returns the request with the media that its provider does not fetch itself. Media fetched for earlier routes is not fetched again,
 * and media that failed for them is not retried. The fetch ends with the call.
 */
export async function withMedia(
  { reach, held, waitingForMedia: waiting }: Pick<Gate, 'reach' | 'held' | 'waitingForMedia'>,
  dispatch: Dispatch,
  { fetchesItself }: Pick<Dialect, 'fetchesItself'>,
): Promise<Dispatch> {
  const { call } = dispatch;
  const { chat, failure }: NonNullable<Call['media']> = call.media ?? { chat: dispatch.chat };
  if (failure !== undefined && findMedia(chat, fetchesItself).some(({ param }) => (failure.details.param ?? param) === param))
    throw failure;
  const ending = new AbortController();
  call.watch(ending, undefined);
  const hold = (bytes: number): void => holdBody(call, bytes, held);
  try {
    const inlined = await inlineMedia(chat, { reach, waiting, signal: ending.signal, fetchesItself, hold });
    call.media = { chat: inlined };
    return { ...dispatch, chat: inlined };
  } catch (error) {
    const callerError = toCallerError(error, { credentials: undefined, headers: undefined });
    call.media = { chat, failure: callerError };
    throw callerError;
  }
}

/** Replaces media given by https URLs with data URLs. Returns the same object when there is none. */
export async function inlineMedia(chat: ChatRequest, options: InlineOptions): Promise<ChatRequest> {
  const places = findMedia(chat, options.fetchesItself);
  if (places.length === 0) return chat;
  const byUrl = Map.groupBy(places, ({ url }) => url);
  if (byUrl.size > ADDRESSES_MAX) {
    throw new GatewayError('array_above_max_length', `At most ${ADDRESSES_MAX} different media URLs can be fetched for this model.`, {
      param: 'messages',
    });
  }
  if (options.waiting.count >= WAITING_MAX) throw tooBusy();
  options.waiting.count += 1;
  const fetching = new Fetching(options);
  try {
    const urls = await fetching.fetchAll([...byUrl.values()]);
    // Like a body, the media is kept until the answer has ended.
    options.hold(urls.values().reduce((sum, { length }) => sum + length, 0));
    return replaceMedia(chat, urls);
  } finally {
    options.waiting.count -= 1;
    fetching.end();
  }
}

/** The running fetches of one request. */
class Fetching {
  readonly #options: InlineOptions;
  readonly #stop = new AbortController();
  #bytes = 0;

  constructor(options: InlineOptions) {
    this.#options = options;
  }

  /** Returns the data URL of every place. The first failure fails the request. */
  async fetchAll(groups: readonly (readonly MediaPlace[])[]): Promise<ReadonlyMap<MediaPlace, string>> {
    const found = new Map<MediaPlace, string>();
    const waiting = groups.values();
    const work = async (): Promise<void> => {
      for (const places of waiting) await this.#fetch(places, found);
    };
    await Promise.all(Array.from({ length: Math.min(PARALLEL_MAX, groups.length) }, work));
    return found;
  }

  /** Ends the remaining fetches and releases their memory. */
  end(): void {
    this.#stop.abort();
    this.#options.hold(-this.#bytes);
    this.#bytes = 0;
  }

  async #fetch(places: readonly MediaPlace[], found: Map<MediaPlace, string>): Promise<void> {
    const signal = AbortSignal.any([this.#options.signal, this.#stop.signal]);
    const [first] = places;
    if (first === undefined) return;
    try {
      const { bytes, contentType } = await fetchMedia(first.url, {
        reach: this.#options.reach,
        signal,
        bytesMax: FILE_BYTES_MAX,
        isWanted: (type) => places.some(({ kinds }) => sharedKinds(type, kinds).length > 0),
        // One URL in many places is fetched once but sent many times.
        onBytes: (count) => this.#take(count * places.length),
      });
      const data = bytes.toString('base64');
      for (const place of places) found.set(place, `data:${typeOf(bytes, contentType, place)};base64,${data}`);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw error instanceof GatewayError ? error : refusal(error, first);
    }
  }

  #take(bytes: number): void {
    if (this.#bytes + bytes > REQUEST_BYTES_MAX) throw new MediaFault('TOO_LARGE');
    this.#options.hold(bytes);
    this.#bytes += bytes;
  }
}

/** Returns the type that both the sender and the bytes support. The bytes decide, but not against the content type or the part. */
function typeOf(bytes: Buffer, contentType: string, place: MediaPlace): string {
  const type = recogniseMedia(bytes, sharedKinds(contentType, place.kinds));
  if (type === undefined) throw refusal(new MediaFault('TYPE'), place);
  return type;
}

function sharedKinds(contentType: string, kinds: readonly MediaKind[]): readonly MediaKind[] {
  return kindsOfType(contentType).filter((kind) => kinds.includes(kind));
}

function tooBusy(): GatewayError {
  return new GatewayError('too_many_concurrent_requests', 'Too much media is being fetched right now. Please try again.', {
    retryAfterSeconds: 1,
  });
}

const UNFETCHED = `The media could not be fetched. Its URL must be public, use https on the default port, and deliver the content within ${FETCH_MS_MAX / 1000} seconds, after at most ${REDIRECTS_MAX} redirects.`;
const TOO_LARGE = `The media is too large: at most ${FILE_BYTES_MAX / 1_000_000} MB are fetched from one URL, and ${REQUEST_BYTES_MAX / 1_000_000} MB for one request.`;

/** Faults that the URL itself shows. Naming them reveals nothing about our network. */
const ADVICE: Partial<Record<MediaFaultCode, string>> = {
  NOT_HTTPS: 'Media is fetched only from https:// URLs. Send such a URL, or the content itself as a data URL.',
  CREDENTIALS: 'A media URL must not contain a user name or a password.',
};

/**
 * Returns the error for media that could not be used. Whether a name exists, where it leads and what answered there all get the same
 * message. Otherwise clients could use it to explore our network.
 */
function refusal(cause: unknown, { kinds, param }: MediaPlace): GatewayError {
  const code = cause instanceof MediaFault ? cause.code : 'PROTOCOL';
  const isImage = kinds.length === 1 && kinds[0] === 'image';
  if (code === 'TOO_LARGE') return new GatewayError('request_too_large', TOO_LARGE, { param, cause });
  if (code === 'TYPE') {
    const message = isImage
      ? 'The URL does not return an image. Send PNG, JPEG, GIF or WebP, with the matching content type.'
      : `The URL does not return what the part is for (${kinds.join(', ')}), or its content type says otherwise.`;
    return new GatewayError(isImage ? 'invalid_image_format' : 'invalid_media_format', message, { param, cause });
  }
  return new GatewayError(isImage ? 'invalid_image_url' : 'invalid_media_url', ADVICE[code] ?? UNFETCHED, { param, cause });
}
