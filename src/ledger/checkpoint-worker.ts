import { openSqlite } from '../database/sqlite.ts';

/** A task for the worker. */
export type CheckpointTask = 'checkpoint' | 'close';

/** The outcome of a task. */
export type CheckpointAnswer = 'done' | { readonly error: string };

declare const self: Worker;

/** The worker that writes SQLite's log back to the database file. If it cannot open the database, it fails with an error event. */
const database = openSqlite(process.env['TOLLGATE_LOG_DATABASE'] ?? '');

self.onmessage = ({ data }: MessageEvent<CheckpointTask>) =>
  self.postMessage(answer(() => (data === 'close' ? database.close() : checkpoint())));

function checkpoint(): void {
  database.run('PRAGMA wal_checkpoint(PASSIVE)');
  // Writes one page without changing anything, which restarts the log. SQLite waits for that: better here than where requests are served.
  database.run('PRAGMA user_version = 0');
}

function answer(work: () => void): CheckpointAnswer {
  try {
    work();
    return 'done';
  } catch (error) {
    return { error: String(error) };
  }
}
