import type { MiddlewareHandler } from 'hono';
import { TooManyError } from './api-error.ts';
import type { Env } from './dependencies.ts';
import { streamOf } from './download.ts';

/** More than any page asks for at once. */
const AT_ONCE_MAX = 30;
const WAIT_MS = 1000;

/**
 * Limits how many requests of one person are answered at once, downloads included. Each may hold a list or a report in memory, which the
 * thread shares with the gate, and one person must not take the places of all others.
 */
export function limitAtOnce(): MiddlewareHandler<Env> {
  const running = new Map<string, number>();
  const count = (person: string, change: 1 | -1): void => {
    const next = (running.get(person) ?? 0) + change;
    if (next === 0) running.delete(person);
    else running.set(person, next);
  };
  return async (c, next) => {
    const { userId } = c.get('person');
    if ((running.get(userId) ?? 0) >= AT_ONCE_MAX)
      throw new TooManyError(`You have ${AT_ONCE_MAX} requests running. Wait until some of them are done.`, WAIT_MS);
    count(userId, 1);
    let isCounted = true;
    const finish = (): void => {
      if (isCounted) count(userId, -1);
      isCounted = false;
    };
    let stream: ReadableStream<Uint8Array> | undefined;
    try {
      await next();
      // Nobody reads the body of a HEAD request.
      if (c.req.method !== 'HEAD') stream = streamOf(c.res);
    } finally {
      if (stream === undefined) finish();
    }
    if (stream !== undefined) c.res = new Response(untilRead(stream, finish), c.res);
  };
}

/** Passes a body on, and calls `onEnd` when it was read to its end, failed, or is not wanted any more. */
function untilRead(body: ReadableStream<Uint8Array>, onEnd: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          onEnd();
          controller.close();
        } catch (error) {
          onEnd();
          throw error;
        }
      },
      cancel: async (reason) => {
        onEnd();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
