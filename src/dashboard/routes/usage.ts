import { Hono } from 'hono';
import { z } from 'zod';
import { writeCsvLine } from '../../usage/csv.ts';
import type { HoursKeeper } from '../../usage/hours-keeper.ts';
import { METRICS } from '../../usage/metrics.ts';
import { readKeyNames, readUsedNames } from '../../usage/names.ts';
import { GROUPS, readReport, type ReportQuestion } from '../../usage/report.ts';
import { chartTable, groupTable, type ReportView, type Table } from '../../usage/report-tables.ts';
import { deleteView, listViews, saveView, VIEW_PAGES } from '../../usage/saved-views.ts';
import { BUCKETS } from '../../usage/zone.ts';
import { ApiError } from '../api-error.ts';
import { describeReport } from './describe-report.ts';
import { download } from '../download.ts';
import type { Env, Parts } from '../parts.ts';
import { isRange, listShape, RANGE_MESSAGE, readSpan, spanShape, zoneShape } from '../usage-query.ts';
import { validate } from '../validate.ts';

const BUCKETS_MAX = 1100;
const SERIES_MAX = 20;

const reportShape = {
  ...spanShape,
  zone: zoneShape,
  bucket: z.enum(BUCKETS).default('day'),
  group: z.enum(GROUPS).default('model'),
  metric: z.enum(METRICS).default('spend'),
  top: z.coerce.number().int().min(1).max(SERIES_MAX).default(6),
  compare: z.enum(['yes', 'no']).default('no'),
  cumulative: z.enum(['yes', 'no']).default('no'),
  model: listShape,
  key: listShape,
  provider: listShape,
};

const reportQuery = z.object(reportShape).refine(isRange, RANGE_MESSAGE);
const exportQuery = z
  .object({ ...reportShape, format: z.enum(['csv', 'json']).default('csv'), part: z.enum(['chart', 'table']).default('chart') })
  .refine(isRange, RANGE_MESSAGE);
const viewBody = z.object({ page: z.enum(VIEW_PAGES), name: z.string().trim().min(1).max(80), search: z.string().max(2000) });

/** What an account used, added up in any way, and the ways that people saved. */
export function usageRoutes({ database }: Parts, hours: HoursKeeper) {
  const read = async (accountId: string, query: ReportQuery) => {
    hours.touch(accountId);
    return { view: viewOf(query), report: await readReport(database, questionOf(accountId, query)) };
  };
  return new Hono<Env>()
    .get('/', validate('query', reportQuery), async (c) => {
      const { report, view } = await read(c.get('person').accountId, c.req.valid('query'));
      return c.json(describeReport(report, view));
    })
    .get('/export', validate('query', exportQuery), async (c) => {
      const { accountId } = c.get('person');
      const query = c.req.valid('query');
      const { report, view } = await read(accountId, query);
      const names = new Map((await readKeyNames(database.kysely, accountId)).map(({ id, name }) => [id, name]));
      const table = query.part === 'chart' ? chartTable(report, { ...view, names }) : groupTable(report, { ...view, names });
      if (query.format === 'csv') return download(`usage-${query.part}.csv`, csvOf(table));
      return c.json(toObjects(table), 200, { 'content-disposition': `attachment; filename="usage-${query.part}.json"` });
    })
    .get('/names', async (c) => {
      const { accountId } = c.get('person');
      const [keys, used] = [await readKeyNames(database.kysely, accountId), await readUsedNames(database.kysely, accountId)];
      return c.json({ keys, ...used });
    })
    .get('/views', validate('query', z.object({ page: z.enum(VIEW_PAGES) })), async (c) => {
      return c.json({ views: await listViews(database.kysely, c.get('person').accountId, c.req.valid('query').page) });
    })
    .put('/views', validate('json', viewBody), async (c) => {
      const result = await saveView(database.kysely, c.get('person').accountId, c.req.valid('json'));
      if (result === 'too_many')
        throw new ApiError('conflict', 'There are too many saved views. Delete one that you do not need any more.');
      return c.json({ saved: true });
    })
    .delete('/views/:id', async (c) => {
      if (!(await deleteView(database.kysely, c.get('person').accountId, c.req.param('id'))))
        throw new ApiError('not_found', 'There is no such view.');
      return c.json({ deleted: true });
    });
}

type ReportQuery = z.output<typeof reportQuery>;

function viewOf({ zone, bucket, group, metric, cumulative }: ReportQuery): ReportView {
  return { zone, bucket, group, metric, isCumulative: cumulative === 'yes' };
}

function questionOf(accountId: string, query: ReportQuery): ReportQuestion {
  const span = readSpan(query);
  const { zone, bucket, group, metric, top: seriesMax, model, key, provider } = query;
  if (span.toMs - span.fromMs > BUCKETS_MAX * BUCKET_MS[bucket])
    throw new ApiError(
      'invalid',
      `The range has more than ${BUCKETS_MAX} of these buckets. Choose a longer bucket or a shorter range.`,
      'bucket',
    );
  const filter = { ...(model && { model }), ...(key && { key }), ...(provider && { provider }) };
  const isCompared = query.compare === 'yes';
  return { accountId, span, zone, bucket, group, metric, filter, seriesMax, isCompared, nowMs: Date.now() };
}

const QUARTER_MS = 900_000;
const BUCKET_MS = { quarter: QUARTER_MS, hour: 4 * QUARTER_MS, day: 96 * QUARTER_MS, week: 672 * QUARTER_MS, month: 2688 * QUARTER_MS };

async function* csvOf({ columns, rows }: Table): AsyncGenerator<string> {
  yield writeCsvLine(columns);
  for (const row of rows) yield writeCsvLine(row);
}

function toObjects({ columns, rows }: Table) {
  return rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index] ?? null])));
}
