import { openSqlite } from '../database/sqlite.ts';

/** What the thread is asked for. */
export type LogTask = 'write_back' | 'close';

/** What became of it. */
export type LogWriterAnswer = 'done' | { readonly error: string };

declare const self: Worker;

/** The thread that writes SQLite's log back to the database file. Where it cannot open the database it ends with an error, which its owner hears. */
const database = openSqlite(process.env['TOLLGATE_LOG_DATABASE'] ?? '');

self.onmessage = ({ data }: MessageEvent<LogTask>) => self.postMessage(answer(() => (data === 'close' ? database.close() : writeBack())));

function writeBack(): void {
  database.run('PRAGMA wal_checkpoint(PASSIVE)');
  // Writes one page, and changes nothing: with it the log begins anew, which SQLite waits for, and better here than where requests are served.
  database.run('PRAGMA user_version = 0');
}

function answer(work: () => void): LogWriterAnswer {
  try {
    work();
    return 'done';
  } catch (error) {
    return { error: String(error) };
  }
}
