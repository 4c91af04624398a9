import { openKysely } from '../database/kysely.ts';
import { verifyLedger, type VerifyOptions } from './verify.ts';

/** What the worker verifies. */
export interface VerifyWork extends Omit<VerifyOptions, 'onProgress'> {
  readonly databasePath: string;
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
