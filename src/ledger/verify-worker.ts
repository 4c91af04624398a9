import { openKysely } from '../database/kysely.ts';
import { verifyLedger } from './verify.ts';

/** What the thread is to verify. */
export interface VerifyWork {
  readonly databasePath: string;
  readonly accountIds: readonly string[];
  readonly longestRequestMs: number;
}

declare const self: Worker;

/** The verification of the embedded database in a thread of its own: reading millions of rows blocks whoever does it. */
self.onmessage = async ({ data }: MessageEvent<VerifyWork>) => {
  const database = openKysely(data.databasePath);
  try {
    self.postMessage(await verifyLedger(database, data));
  } finally {
    await database.destroy();
  }
};
