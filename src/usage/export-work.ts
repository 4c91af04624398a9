import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { OpenDatabase } from '../database/connect.ts';
import type { ExportJob } from './export-job.ts';
import type { ExportJobs, ExportStep } from './export-jobs.ts';
import { readKeyNames } from './names.ts';
import { requestLines, type RequestLines } from './request-export.ts';
import { readExportPiece } from './requests.ts';

/** How many pieces of requests are read and compressed together before the next database write. */
const PIECES_PER_STEP = 8;
/** Gives reports and charges a turn in between. */
const PAUSE_MS = 10;
/** Compressed size: tens of millions of requests. Larger files must be requested in parts. */
const BYTES_MAX = 1024 ** 3;
const TOO_LARGE = 'The file is larger than 1 GiB. Choose shorter ranges and export it in parts.';

const compress = promisify(gzip);

/** The worker's dependencies, its id, and the signal that stops it. */
export interface ExportWork {
  readonly database: OpenDatabase;
  readonly jobs: ExportJobs;
  readonly worker: string;
  readonly signal: AbortSignal;
}

/**
 * Works on a job until it ends, in constant memory: each step is read, compressed and written before the next begins. Returns the
 * finished job; undefined when it was cancelled or left for later.
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
  for (let pieces = 0; pieces < PIECES_PER_STEP; pieces += 1) {
    const piece = await readExportPiece(database, { accountId, filter, before: next });
    texts.push(lines.write(piece.rows));
    rowCount += piece.rows.length;
    next = piece.next;
    if (next === undefined) break;
  }
  const text = texts.join('');
  // Even an empty file needs a gzip header.
  const isNeeded = text !== '' || (next === undefined && chunkCount === 0);
  return { bytes: isNeeded ? await compress(text) : undefined, rowCount, next };
}
