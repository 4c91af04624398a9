import { openSqlite } from '../database/sqlite.ts';
import { prepareApply } from './sqlite-apply.ts';
import { decodeOperations, encodeResults } from './wire.ts';

/** The last message to the writer thread; every other is operations to carry out, as JSON. */
export const CLOSE = 'close';

/** The writer's answer: the results as JSON, or why nothing was done, or that it is closed. */
export type WriterAnswer = string | { readonly error: string };

/** The writer says this once, when its database is open. */
export type WriterReady = { readonly type: 'ready' } | { readonly type: 'broken'; readonly reason: string };

declare const self: Worker;

/** The writer thread: the only place that writes charges on the embedded database. A commit blocks it and nobody else. */
function start(): void {
  const database = openSqlite(process.env['TOLLGATE_WRITER_DATABASE'] ?? '');
  const apply = prepareApply(database, process.env['TOLLGATE_WRITER_NODE'] ?? '');
  self.onmessage = ({ data }: MessageEvent<string>) => {
    if (data === CLOSE) database.close();
    self.postMessage(data === CLOSE ? CLOSE : answer(() => encodeResults(apply(decodeOperations(data)))));
  };
}

function answer(work: () => string): WriterAnswer {
  try {
    return work();
  } catch (error) {
    return { error: String(error) };
  }
}

function answerReady(): WriterReady {
  try {
    start();
    return { type: 'ready' };
  } catch (error) {
    return { type: 'broken', reason: String(error) };
  }
}

self.postMessage(answerReady());
