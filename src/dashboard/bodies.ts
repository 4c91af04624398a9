import { GatheredBytes } from '../http/gathered-bytes.ts';
import { HeldBytes } from '../http/held-bytes.ts';

/** Why a request body is refused. */
export type BodyProblem = 'too_large' | 'too_slow' | 'no_room';

type Body = Uint8Array<ArrayBuffer> | undefined;

export const API_BODY_BYTES_MAX = 1024 * 1024;
export const BODY_MS = 30_000;
/** Even the largest body arrives in fewer chunks. Each chunk costs time on the thread that serves everyone. */
const CHUNKS_MAX = 10_000;
/** Nearly every body is shorter. Short bodies may take as much memory again when the others have taken theirs. */
const SHORT_BYTES = 16 * 1024;
/** Memory limit for all bodies together. Anyone can send a body: the sender is known only after it was read. */
const ROOM_BYTES = 32 * 1024 * 1024;
/** Strangers must not take the memory that requests with a key need. */
const SHARE_OF_HELD = 1 / 4;

/** Reads the bodies of browsers' requests. Limits the length and the time of each, and the memory of all together. */
export class Bodies {
  readonly #held: HeldBytes;
  readonly #roomBytes: number;
  readonly #waitMs: number;
  #heldBytes = 0;

  /** `held` counts the bytes together with those of all other requests. */
  constructor({ held = new HeldBytes(), roomBytes = ROOM_BYTES, waitMs = BODY_MS } = {}) {
    this.#held = held;
    this.#roomBytes = Math.min(roomBytes, SHARE_OF_HELD * held.max);
    this.#waitMs = waitMs;
  }

  /** Reads the body of a request; undefined if it has none. The body counts towards the memory limit until it is released. */
  async read(request: Request): Promise<Body | BodyProblem> {
    if (request.body === null) return undefined;
    if (Number(request.headers.get('content-length') ?? 0) > API_BODY_BYTES_MAX) return 'too_large';
    const late = Promise.withResolvers<'too_slow'>();
    const timer = setTimeout(() => late.resolve('too_slow'), this.#waitMs);
    const reader = (request.body as ReadableStream<Uint8Array>).getReader();
    try {
      return await this.#gather(() => Promise.race([reader.read(), late.promise]));
    } finally {
      clearTimeout(timer);
      // Fails if the body was read to its end or the sender is gone. Neither matters here.
      reader.cancel().catch(() => undefined);
    }
  }

  /** Frees the memory of a body after its request was answered. */
  release(body: Body): void {
    this.#hold(-(body?.length ?? 0));
  }

  async #gather(next: () => Promise<{ done: boolean; value?: Uint8Array | undefined } | 'too_slow'>): Promise<Body | BodyProblem> {
    const gathered = new GatheredBytes();
    let length = 0;
    let chunks = 0;
    let isComplete = false;
    try {
      for (;;) {
        const step = await next();
        if (step === 'too_slow') return step;
        if (step.value === undefined) break;
        length += step.value.length;
        this.#hold(step.value.length);
        chunks += 1;
        if (length > API_BODY_BYTES_MAX || chunks > CHUNKS_MAX) return 'too_large';
        if (this.#isFull(length)) return 'no_room';
        gathered.add(step.value);
      }
      isComplete = true;
      return gathered.take();
    } finally {
      if (!isComplete) this.#hold(-length);
    }
  }

  #hold(bytes: number): void {
    this.#heldBytes += bytes;
    this.#held.add(bytes);
  }

  #isFull(length: number): boolean {
    const roomBytes = length > SHORT_BYTES ? this.#roomBytes : 2 * this.#roomBytes;
    return this.#heldBytes > roomBytes || this.#held.total > 2 * this.#held.max;
  }
}
