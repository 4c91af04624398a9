import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { OpenDatabase } from '../database/connect.ts';
import type { ExportJob } from './export-job.ts';
import type { ExportJobs, ExportStep } from './export-jobs.ts';
import { readKeyNames } from './names.ts';
import { requestLines, type RequestLines } from './request-export.ts';
import { readExportPiece } from './requests.ts';

/** So many pieces of requests are read, and compressed together, before the database is written to. */
const PIECES_A_STEP = 8;
/** Reports and charges get their turn in between. */
const PAUSE_MS = 10;
/** Compressed; tens of millions of requests. A file that grows beyond has to be asked for in parts. */
const BYTES_MAX = 1024 ** 3;
const TOO_LARGE = 'The file is larger than 1 GiB. Choose a shorter range, and export it in parts.';

const compress = promisify(gzip);

/** Who works, with what, and until when. */
export interface ExportWork {
  readonly database: OpenDatabase;
  readonly jobs: ExportJobs;
  readonly worker: string;
  readonly signal: AbortSignal;
}

/**
 * Works on a job to its end, in constant memory: a step is read, compressed and written before the next is begun. Gives the job as
 * it ended; undefined when it was cancelled, or is left for later.
 */
export async function workOnExport({ database, jobs, worker, signal }: ExportWork, begun: ExportJob): Promise<ExportJob | undefined> {
  const names = new Map((await readKeyNames(database.kysely, begun.accountId)).map(({ id, name }) => [id, name]));
  const lines = requestLines({ format: begun.format, zone: begun.zone, names });
  let job: ExportJob | undefined = begun;
  while (job?.state === 'running' && !signal.aborted) {
    if (job.byteCount > BYTES_MAX) return jobs.fail(job, worker, TOO_LARGE);
    job = await jobs.advance(job, worker, await makeStep(database, job, lines));
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return job?.state === 'done' ? job : undefined;
}

async function makeStep(database: OpenDatabase, job: ExportJob, lines: RequestLines): Promise<ExportStep> {
  const { accountId, filter, chunkCount } = job;
  const texts = chunkCount === 0 ? [lines.head] : [];
  let [rowCount, next]: [number, string | undefined] = [0, job.before];
  for (let pieces = 0; pieces < PIECES_A_STEP; pieces += 1) {
    const piece = await readExportPiece(database, { accountId, filter, before: next });
    texts.push(lines.write(piece.rows));
    rowCount += piece.rows.length;
    next = piece.next;
    if (next === undefined) break;
  }
  const text = texts.join('');
  // Even a file of nothing begins with what makes it a gzip file.
  const isNeeded = text !== '' || (next === undefined && chunkCount === 0);
  return { bytes: isNeeded ? await compress(text) : undefined, rowCount, next };
}
