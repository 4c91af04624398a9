import { Hono } from 'hono';
import { z } from 'zod';
import { visibleName } from '../../accounts/line-of-text.ts';
import { writeCsvLine } from '../../usage/csv.ts';
import { readKeyNames, readUsedNames } from '../../usage/names.ts';
import { isCounted, readReport, type ReportQuery } from '../../usage/report.ts';
import { chartTable, groupTable, type ReportView, type Table } from '../../usage/report-tables.ts';
import { deleteView, listViews, saveView, VIEW_PAGES } from '../../usage/saved-views.ts';
import { addFound, readSums } from '../../usage/sums.ts';
import { readTags } from '../../usage/tags.ts';
import { BUCKET_MS, BUCKETS, bucketsMax, GROUPS, METRICS } from '../../usage/vocabulary.ts';
import { ApiError } from '../api-error.ts';
import { describeReport } from './describe-report.ts';
import { download } from '../download.ts';
import type { Env, Dependencies } from '../dependencies.ts';
import { endUserShape, isRange, listShape, RANGE_MESSAGE, readMinuteSpan, readSpan, spanShape, zoneShape } from '../usage-query.ts';
import { validate } from '../validate.ts';

const SERIES_MAX = 20;
/** Counting more requests than this one by one would take too long. */
const COUNTED_REQUESTS_MAX = 150_000;

const reportShape = {
  ...spanShape,
  zone: zoneShape,
  bucket: z.enum(BUCKETS).default('day'),
  group: z.enum(GROUPS).default('model'),
  second: z.enum(GROUPS).optional(),
  metric: z.enum(METRICS).default('spend'),
  top: z.coerce.number().int().min(1).max(SERIES_MAX).default(6),
  compare: z.enum(['yes', 'no']).default('no'),
  cumulative: z.enum(['yes', 'no']).default('no'),
  model: listShape,
  key: listShape,
  provider: listShape,
  tag: listShape,
  end_user: endUserShape,
  status: z.enum(['ok', 'error']).optional(),
};

const isTwoGroups = ({ group, second }: { readonly group: string; readonly second?: string | undefined }): boolean => group !== second;
const GROUPS_MESSAGE = { message: 'must differ from the first group', path: ['second'] };
const reportQuery = z.object(reportShape).refine(isRange, RANGE_MESSAGE).refine(isTwoGroups, GROUPS_MESSAGE);
const exportQuery = z
  .object({ ...reportShape, format: z.enum(['csv', 'json']).default('csv'), part: z.enum(['chart', 'table']).default('chart') })
  .refine(isRange, RANGE_MESSAGE)
  .refine(isTwoGroups, GROUPS_MESSAGE);
const viewBody = z.object({ page: z.enum(VIEW_PAGES), name: visibleName().max(80), search: z.string().max(2000) });

/** Usage reports of an account, and saved views. */
export function usageRoutes({ database, history }: Dependencies) {
  const read = async (accountId: string, params: UsageParams) => {
    const query = queryOf(accountId, params);
    if (isCounted(query)) await refuseTooMany(database, query);
    const report = await readReport(database, query);
    history.touch(accountId, report.buckets);
    return { view: viewOf(params), report };
  };
  return new Hono<Env>()
    .get('/', validate('query', reportQuery), async (c) => {
      const { report, view } = await read(c.get('person').accountId, c.req.valid('query'));
      return c.json(describeReport(report, view));
    })
    .get('/export', validate('query', exportQuery), async (c) => {
      const { accountId } = c.get('person');
      const params = c.req.valid('query');
      const { report, view } = await read(accountId, params);
      const keyNames = new Map((await readKeyNames(database.kysely, accountId)).map(({ id, name }) => [id, name]));
      const table = (params.part === 'chart' ? chartTable : groupTable)(report, { ...view, keyNames });
      if (params.format === 'csv') return download(`usage-${params.part}.csv`, csvOf(table));
      return c.json(toObjects(table), 200, { 'content-disposition': `attachment; filename="usage-${params.part}.json"` });
    })
    .get('/names', async (c) => {
      const { accountId } = c.get('person');
      const [keys, used] = [await readKeyNames(database.kysely, accountId), await readUsedNames(database.kysely, accountId)];
      const tags = new Set([...(await readTags(database.kysely, accountId)).values()].flat());
      return c.json({ keys, ...used, tags: [...tags].sort() });
    })
    .get('/views', validate('query', z.object({ page: z.enum(VIEW_PAGES) })), async (c) => {
      return c.json({ views: await listViews(database.kysely, c.get('person').accountId, c.req.valid('query').page) });
    })
    .put('/views', validate('json', viewBody), async (c) => {
      const result = await saveView(database.kysely, c.get('person').accountId, c.req.valid('json'));
      if (result === 'too_many') throw new ApiError('conflict', 'You have too many saved views. Delete one that you no longer need.');
      return c.json({ saved: true });
    })
    .delete('/views/:id', async (c) => {
      if (!(await deleteView(database.kysely, c.get('person').accountId, c.req.param('id'))))
        throw new ApiError('not_found', 'Saved view not found.');
      return c.json({ deleted: true });
    });
}

type UsageParams = z.output<typeof reportQuery>;

function viewOf({ zone, bucket, group, second, metric, cumulative }: UsageParams): ReportView {
  return { zone, bucket, groups: second === undefined ? [group] : [group, second], metric, isCumulative: cumulative === 'yes' };
}

function queryOf(accountId: string, params: UsageParams): ReportQuery {
  const { bucket, top: seriesMax, model, key, provider, tag, end_user: endUser, status } = params;
  const { zone, groups, metric } = viewOf(params);
  const span = bucket === 'minute' ? readMinuteSpan(params) : readSpan(params);
  const filter = { ...(model && { model }), ...(key && { key }), ...(provider && { provider }), ...(tag && { tag }) };
  const isCompared = params.compare === 'yes';
  const most = bucketsMax({
    bucket,
    names: [...groups, ...Object.keys(filter), ...(endUser === undefined ? [] : ['end_user'])],
    isCompared,
  });
  if (span.toMs - span.fromMs > most * BUCKET_MS[bucket])
    throw new ApiError('invalid', `The range has more than ${most} buckets. Choose larger buckets or a shorter range.`, 'bucket');
  return {
    accountId,
    span,
    zone,
    bucket,
    groups,
    metric,
    filter: { ...filter, status, endUser },
    seriesMax,
    isCompared,
    nowMs: Date.now(),
  };
}

/**
 * Refuses reports over too many requests. Minutes, end users and durations by status are counted request by request; the roll-ups know how
 * many there are.
 */
async function refuseTooMany(
  database: Dependencies['database'],
  { accountId, span: { fromMs, toMs }, bucket }: ReportQuery,
): Promise<void> {
  const span = readSpan({ from: fromMs - (toMs - fromMs), to: toMs });
  const [found] = await readSums(database, { accountId, spans: [span], by: [], filter: {} });
  if (addFound(found).requests <= COUNTED_REQUESTS_MAX) return;
  throw bucket === 'minute'
    ? new ApiError('invalid', 'There are too many requests to count by the minute. Choose larger buckets.', 'bucket')
    : new ApiError('invalid', 'There are too many requests in this range to count one by one. Choose a shorter range.', 'from');
}

async function* csvOf({ columns, rows }: Table): AsyncGenerator<string> {
  yield writeCsvLine(columns);
  for (const row of rows) yield writeCsvLine(row);
}

function toObjects({ columns, rows }: Table) {
  return rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index] ?? null])));
}
