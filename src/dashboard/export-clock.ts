import { makeId } from '../ids.ts';
import type { ExportJob } from '../usage/export-job.ts';
import { ExportJobs } from '../usage/export-jobs.ts';
import { workOnExport } from '../usage/export-work.ts';
import { every, type Clock } from '../turns.ts';
import { exportEmail } from './emails.ts';
import type { Dependencies } from './dependencies.ts';

const LOOK_MS = 2000;
const PRUNE_MS = 15_000;
const PRUNE_PAUSE_MS = 100;

/** Processes export jobs and deletes old ones until stopped. */
export function startExportClock(dependencies: Dependencies): Pick<Clock, 'stop'> {
  const worker = makeId('worker');
  const jobs = new ExportJobs(dependencies.database.kysely);
  const stopping = new AbortController();
  const fail = (error: unknown): void => dependencies.fail('exports could not be processed', error);
  const working = every(LOOK_MS, () => runExports(dependencies, worker, stopping.signal), fail);
  const pruning = every(PRUNE_MS, () => pruneExports(jobs, stopping.signal), fail);
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all([working.stop(), pruning.stop()]);
      await jobs.release(worker).catch(fail);
    },
  };
}

/** Processes one job after another until none is left. */
export async function runExports(dependencies: Dependencies, worker: string, signal: AbortSignal): Promise<void> {
  const { database } = dependencies;
  const jobs = new ExportJobs(database.kysely);
  while (!signal.aborted) {
    const job = await jobs.claim(worker);
    if (job === undefined) return;
    const ended = job.state === 'running' ? await workOnExport({ database, jobs, worker, signal }, job) : job;
    if (ended !== undefined) await sendExportEmail(dependencies, ended);
  }
}

/**
 * Emails the person who requested the export, if their address is verified. The link leads to the page that lists it, because the download
 * requires a session.
 */
async function sendExportEmail({ database: { kysely }, mail, settings }: Dependencies, job: ExportJob): Promise<void> {
  if (!mail.isConfigured) return;
  const person = await kysely.selectFrom('people').select(['email', 'email_verified']).where('id', '=', job.personId).executeTakeFirst();
  if (person === undefined || !Number(person.email_verified)) return;
  mail.send(exportEmail(person.email, job, `${settings.publicUrl}/requests`));
}

/** Deletes in small steps with pauses, so that it blocks nobody. */
async function pruneExports(jobs: ExportJobs, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await jobs.prune(Date.now()))) await new Promise((resolve) => setTimeout(resolve, PRUNE_PAUSE_MS));
}
