import { inTime } from './in-time.ts';
import type { Log } from './observe/log.ts';

/** Things that can be closed, by the names that the operator reads. */
type Closing = Readonly<Record<string, () => Promise<unknown>>>;

/** Closes all of these at once. One that fails, or hangs because its database is away, is logged and keeps nothing else from being closed. */
export async function closeAll(log: Pick<Log, 'internalError'>, withinMs: number, closing: Closing): Promise<void> {
  const close = async ([name, work]: [string, () => Promise<unknown>]): Promise<void> => {
    try {
      await inTime(name, work(), withinMs);
    } catch (error) {
      log.internalError(`${name} could not be closed`, error);
    }
  };
  await Promise.all(Object.entries(closing).map(close));
}
