import { makeId } from '../ids.ts';
import type { ExportJob } from '../usage/export-job.ts';
import { ExportJobs } from '../usage/export-jobs.ts';
import { workOnExport } from '../usage/export-work.ts';
import { every, type Clock } from '../turns.ts';
import { exportEmail } from './emails.ts';
import type { Parts } from './parts.ts';

const LOOK_MS = 2000;
const PRUNE_MS = 15_000;
const PRUNE_PAUSE_MS = 100;

/** Works on exports, and throws old ones away, for as long as the thread lives. */
export function startExportClock(parts: Parts): Pick<Clock, 'stop'> {
  const worker = makeId('worker');
  const jobs = new ExportJobs(parts.database.kysely);
  const stopping = new AbortController();
  const fail = (error: unknown): void => parts.fail('exports could not be worked on', error);
  const working = every(LOOK_MS, () => runExports(parts, worker, stopping.signal), fail);
  const pruning = every(PRUNE_MS, () => pruneExports(jobs, stopping.signal), fail);
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all([working.stop(), pruning.stop()]);
      await jobs.release(worker).catch(fail);
    },
  };
}

/** Works on one job after the other until none is left. */
export async function runExports(parts: Parts, worker: string, signal: AbortSignal): Promise<void> {
  const { database } = parts;
  const jobs = new ExportJobs(database.kysely);
  while (!signal.aborted) {
    const job = await jobs.claim(worker);
    if (job === undefined) return;
    const ended = job.state === 'running' ? await workOnExport({ database, jobs, worker, signal }, job) : job;
    if (ended !== undefined) await tell(parts, ended);
  }
}

/** Writes to whoever asked, if that is their address. The file itself wants their session: the link leads to the page that lists it. */
async function tell({ database: { kysely }, mail, settings }: Parts, job: ExportJob): Promise<void> {
  if (!mail.isConfigured) return;
  const person = await kysely.selectFrom('people').select(['email', 'email_verified']).where('id', '=', job.personId).executeTakeFirst();
  if (person === undefined || !Number(person.email_verified)) return;
  mail.send(exportEmail(person.email, job, `${settings.publicUrl}/requests`));
}

/** Little by little, so that nobody waits for it. */
async function pruneExports(jobs: ExportJobs, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await jobs.prune(Date.now()))) await new Promise((resolve) => setTimeout(resolve, PRUNE_PAUSE_MS));
}
