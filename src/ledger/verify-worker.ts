import { openKysely } from '../database/kysely.ts';
import { verifyLedger } from './verify.ts';

/** What the worker verifies. */
export interface VerifyWork {
  readonly databasePath: string;
  readonly accountIds: readonly string[];
  readonly longestRequestMs: number;
}

declare const self: Worker;

/** Verifies the embedded database in a worker, because reading millions of rows blocks the thread that does it. */
self.onmessage = async ({ data }: MessageEvent<VerifyWork>) => {
  const database = openKysely(data.databasePath);
  try {
    self.postMessage(await verifyLedger(database, data));
  } finally {
    await database.destroy();
  }
};
