import { openSqlite } from '../database/sqlite.ts';
import type { Operation, OperationResult } from './ledger.ts';
import { prepareApply } from './sqlite-apply.ts';

/** A message to the writer thread: operations to carry out, or the last one. */
export type WriterMessage = readonly Operation[] | 'close';

/** Its answer: what became of them, or why nothing did. */
export type WriterAnswer = readonly OperationResult[] | { readonly error: string } | 'closed';

/** The writer says this once, when its database is open. */
export type WriterReady = { readonly type: 'ready' } | { readonly type: 'broken'; readonly reason: string };

declare const self: Worker;

/** The writer thread: the only place that writes charges on the embedded database. A commit blocks it and nobody else. */
function start(): void {
  const database = openSqlite(process.env['TOLLGATE_WRITER_DATABASE'] ?? '');
  const apply = prepareApply(database, process.env['TOLLGATE_WRITER_NODE'] ?? '');
  self.onmessage = ({ data }: MessageEvent<WriterMessage>) => {
    if (data === 'close') database.close();
    self.postMessage(data === 'close' ? 'closed' : answer(() => apply(data)));
  };
}

function answer(work: () => readonly OperationResult[]): WriterAnswer {
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
