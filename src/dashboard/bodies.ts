import { GatheredBytes } from '../http/gathered-bytes.ts';

/** Why a body is not taken. */
export type BodyProblem = 'too_large' | 'too_slow' | 'no_room';

type Body = Uint8Array<ArrayBuffer> | undefined;

export const BODY_BYTES_MAX = 1024 * 1024;
export const BODY_MS = 30_000;
/** Even the longest body comes in fewer pieces. Each costs time in which nobody else is served. */
const PIECES_MAX = 10_000;
/** Nearly every body is shorter, and is taken without a look at the others. */
const SHORT_BYTES = 16 * 1024;
/** How much all bodies together may take. Anybody can send them: who sends them is known only when they are read. */
const ROOM_BYTES = 32 * 1024 * 1024;

/** Reads the bodies of browsers' requests: each is bounded in length and in time, and all together in memory. */
export class Bodies {
  readonly #roomBytes: number;
  readonly #waitMs: number;
  #heldBytes = 0;

  constructor({ roomBytes = ROOM_BYTES, waitMs = BODY_MS } = {}) {
    this.#roomBytes = roomBytes;
    this.#waitMs = waitMs;
  }

  /** The body of a request, which takes its room until it is released; undefined where there is none. */
  async read(request: Request): Promise<Body | BodyProblem> {
    if (request.body === null) return undefined;
    if (Number(request.headers.get('content-length') ?? 0) > BODY_BYTES_MAX) return 'too_large';
    const late = Promise.withResolvers<'too_slow'>();
    const timer = setTimeout(() => late.resolve('too_slow'), this.#waitMs);
    const reader = (request.body as ReadableStream<Uint8Array>).getReader();
    try {
      return await this.#gather(() => Promise.race([reader.read(), late.promise]));
    } finally {
      clearTimeout(timer);
      // Where it was read to its end there is nothing to cancel, and where its sender is gone that is known.
      reader.cancel().catch(() => undefined);
    }
  }

  /** The request of a body was answered. */
  release(body: Body): void {
    this.#heldBytes -= body?.length ?? 0;
  }

  async #gather(next: () => Promise<{ done: boolean; value?: Uint8Array | undefined } | 'too_slow'>): Promise<Body | BodyProblem> {
    const gathered = new GatheredBytes();
    let length = 0;
    let pieces = 0;
    let isTaken = false;
    try {
      for (;;) {
        const step = await next();
        if (step === 'too_slow') return step;
        if (step.value === undefined) break;
        length += step.value.length;
        this.#heldBytes += step.value.length;
        pieces += 1;
        if (length > BODY_BYTES_MAX || pieces > PIECES_MAX) return 'too_large';
        if (length > SHORT_BYTES && this.#heldBytes > this.#roomBytes) return 'no_room';
        gathered.add(step.value);
      }
      isTaken = true;
      return gathered.take();
    } finally {
      if (!isTaken) this.#heldBytes -= length;
    }
  }
}
