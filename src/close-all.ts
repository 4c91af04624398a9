import { withTimeout } from './with-timeout.ts';
import type { Log } from './observe/log.ts';

/** Close functions, by the names used in the log. */
type Closing = Readonly<Record<string, () => Promise<unknown>>>;

/**
 * Closes all of these at the same time. One that fails, or hangs because its database is unreachable, is logged and does not block the
 * others.
 */
export async function closeAll(log: Pick<Log, 'internalError'>, withinMs: number, closing: Closing): Promise<void> {
  const close = async ([name, work]: [string, () => Promise<unknown>]): Promise<void> => {
    try {
      await withTimeout(name, work(), withinMs);
    } catch (error) {
      log.internalError(`${name} could not be closed`, error);
    }
  };
  await Promise.all(Object.entries(closing).map(close));
}
