import { Hono } from 'hono';
import { z } from 'zod';
import { HOUR_MS } from '../../durations.ts';
import type { ExportJob } from '../../usage/export-job.ts';
import { ExportJobs } from '../../usage/export-jobs.ts';
import { isLargeExport, readExportSize, STREAMED_ROWS_MAX } from '../../usage/export-size.ts';
import { readKeyNames } from '../../usage/names.ts';
import { requestLines, type FileForm } from '../../usage/request-export.ts';
import { exportRequests } from '../../usage/requests.ts';
import { canonicalZone } from '../../zone-clock.ts';
import { ApiError } from '../api-error.ts';
import { download } from '../download.ts';
import type { Env, Dependencies } from '../dependencies.ts';
import { filterShape, isRange, RANGE_MESSAGE, resolveFilter, zoneShape } from '../usage-query.ts';
import { validate } from '../validate.ts';

/** More exports in an hour than anyone needs. */
const EXPORT_RULE = { kind: 'export', max: 30, windowMs: HOUR_MS };

const exportQuery = z
  .object({ ...filterShape, zone: zoneShape, format: z.enum(['csv', 'jsonl']).default('csv') })
  .refine(isRange, RANGE_MESSAGE);

/** Exports of requests: small ones are streamed, large ones are prepared in the background and kept for a few days. */
export function exportRoutes({ database, auth, mail }: Dependencies) {
  const { kysely } = database;
  const jobs = new ExportJobs(kysely);
  return new Hono<Env>()
    .get('/export', validate('query', exportQuery), async (c) => {
      const { accountId } = c.get('person');
      const query = c.req.valid('query');
      const filter = await resolveFilter(kysely, accountId, query);
      if (isLargeExport(filter, await readExportSize(database, { accountId, filter }))) throw tooLarge();
      const names = new Map((await readKeyNames(kysely, accountId)).map(({ id, name }) => [id, name]));
      const pieces = exportRequests(database, { accountId, filter });
      return download(`requests.${query.format}`, writeRequests(pieces, { format: query.format, zone: query.zone, names }));
    })
    .get('/exports', async (c) => {
      const { accountId, isEmailVerified } = c.get('person');
      const exports = (await jobs.list(accountId)).map(describeJob);
      return c.json({ exports, isMailed: mail.isConfigured && isEmailVerified });
    })
    .post('/exports', validate('json', exportQuery), async (c) => {
      const { accountId, userId, email } = c.get('person');
      await auth.limits.admit([[EXPORT_RULE, accountId]]);
      const { format, zone, ...query } = c.req.valid('json');
      const filter = await resolveFilter(kysely, accountId, query);
      const given = givenFilters(await c.req.json());
      const order = { accountId, personId: userId, actor: email, format, zone: canonicalZone(zone) ?? zone, query: given, filter };
      const job = await jobs.create(order);
      if (job === 'busy') throw new ApiError('conflict', 'Another export is being prepared. Wait until it is ready, or cancel it.');
      return c.json(describeJob(job), 201);
    })
    .delete('/exports/:id', async (c) => {
      if (!(await jobs.drop(c.get('person').accountId, c.req.param('id')))) throw noSuchExport();
      return c.json({ deleted: true });
    })
    .get('/exports/:id/file', async (c) => {
      const job = await jobs.find(c.get('person').accountId, c.req.param('id'));
      if (job === undefined) throw noSuchExport();
      if (job.state !== 'done') throw new ApiError('conflict', 'The file is not ready yet. Try again later.');
      const day = new Date(job.createdAtMs).toISOString().slice(0, 10);
      return download(`requests-${day}.${job.format}.gz`, readFile(jobs, job));
    });
}

async function* writeRequests(pieces: ReturnType<typeof exportRequests>, form: FileForm): AsyncGenerator<string> {
  const lines = requestLines(form);
  if (lines.head !== '') yield lines.head;
  for await (const rows of pieces) yield lines.write(rows);
}

async function* readFile(jobs: ExportJobs, { id, chunkCount }: ExportJob): AsyncGenerator<Uint8Array> {
  for (let n = 0; n < chunkCount; n += 1) {
    const bytes = await jobs.readChunk(id, n);
    if (bytes === undefined) throw new Error('The export was deleted during the download.');
    yield bytes;
  }
}

/** Returns the filters as they were given, so that people can tell exports apart. */
function givenFilters(body: Readonly<Record<string, unknown>>): Record<string, string> {
  const names = Object.keys(filterShape).filter((name) => name !== 'from' && name !== 'to');
  return Object.fromEntries(names.flatMap((name) => (typeof body[name] === 'string' ? [[name, body[name]]] : [])));
}

function describeJob({ id, format, zone, query, filter, state, part, rowCount, byteCount, problem, createdAtMs, expiresAtMs }: ExportJob) {
  const { fromMs, toMs } = filter.span;
  const order = { id, format, zone, fromMs, toMs, filters: Object.entries(query).map(([name, value]) => ({ name, value })), createdAtMs };
  return { ...order, state, part, rows: rowCount, bytes: byteCount, problem: problem ?? null, expiresAtMs: expiresAtMs ?? null };
}

function tooLarge(): ApiError {
  return new ApiError(
    'conflict',
    `There are more than ${STREAMED_ROWS_MAX.toLocaleString('en')} requests. Prepare the file in the background, or choose a shorter range.`,
  );
}

function noSuchExport(): ApiError {
  return new ApiError('not_found', 'Export not found. It may have been deleted or have expired.');
}
