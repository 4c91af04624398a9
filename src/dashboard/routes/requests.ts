import { Hono } from 'hono';
import { z } from 'zod';
import { CONTENT_DAYS_MAX, deleteContents, readContentDays, setContentDays } from '../../usage/contents.ts';
import { isLargeExport } from '../../usage/export-size.ts';
import { describeSums } from '../../usage/metrics.ts';
import { dimensionsOf, rolledStatus, unrolledParts, type RequestFilter } from '../../usage/request-filter.ts';
import { readRequestDetail } from '../../usage/request-detail.ts';
import { readRequests } from '../../usage/requests.ts';
import { readRefusals } from '../../usage/refusals.ts';
import { addAll, addFound, NO_SUMS, ofStatus, readSums, type Sums } from '../../usage/sums.ts';
import { cutIntoPieces } from '../../usage/histogram.ts';
import { ApiError } from '../api-error.ts';
import { describeDetail, describeRefusal, describeRequest } from './describe-request.ts';
import { exportRoutes } from './exports.ts';
import type { Env, Dependencies } from '../dependencies.ts';
import { filterShape, isRange, RANGE_MESSAGE, refusedShape, requestsPageShape, resolveFilter, type FilterQuery } from '../usage-query.ts';
import { validate } from '../validate.ts';

const listQuery = z.object({ ...filterShape, ...requestsPageShape }).refine(isRange, RANGE_MESSAGE);
const histogramQuery = z.object(filterShape).refine(isRange, RANGE_MESSAGE);
const loggingBody = z.object({ days: z.number().int().min(1).max(CONTENT_DAYS_MAX).nullable() });

/** Requests: lists, details, and the setting that records prompts and answers. */
export function requestsRoutes(dependencies: Dependencies) {
  const { database, history } = dependencies;
  const { kysely } = database;
  const filterOf = (accountId: string, query: FilterQuery): Promise<RequestFilter> => resolveFilter(kysely, accountId, query);
  return new Hono<Env>()
    .get('/', validate('query', listQuery), async (c) => {
      const query = c.req.valid('query');
      const { accountId } = c.get('person');
      const page = { accountId, filter: await filterOf(accountId, query), before: query.before, rowsMax: query.limit };
      const { rows, next, isCutShort } = await readRequests(database, page);
      return c.json({ requests: rows.map(describeRequest), next: next ?? null, isCutShort });
    })
    .get('/histogram', validate('query', histogramQuery), async (c) => {
      const { accountId } = c.get('person');
      const filter = await filterOf(accountId, c.req.valid('query'));
      const dimensions = dimensionsOf(filter);
      const spans = cutIntoPieces(filter.span, Object.keys(dimensions).length > 1);
      history.touch(accountId, spans);
      const status = rolledStatus(filter);
      const wanted = (sums: Sums): Sums => (status === undefined ? sums : ofStatus(sums, status));
      const found = await readSums(database, { accountId, spans, by: [], filter: dimensions });
      const sums = found.map((inSpan) => wanted(addFound(inSpan)));
      const total = addAll(sums);
      return c.json({
        bars: spans.map(({ fromMs, toMs }, index) => {
          const { requests, errors } = sums[index] ?? NO_SUMS;
          return { fromMs, toMs, ok: requests - errors, errors };
        }),
        total: describeSums(total),
        isLarge: isLargeExport(filter, total.requests),
        /** Filters that the bars and the total do not apply. */
        ignored: unrolledParts(filter),
      });
    })
    .route('/', exportRoutes(dependencies))
    .get('/logging', async (c) => c.json({ days: (await readContentDays(kysely, c.get('person').accountId)) ?? null }))
    .put('/logging', validate('json', loggingBody), async (c) => {
      const { days } = c.req.valid('json');
      await setContentDays(kysely, c.get('person').accountId, days ?? undefined);
      return c.json({ days });
    })
    .delete('/contents', async (c) => c.json({ deleted: await deleteContents(kysely, c.get('person').accountId) }))
    .get('/refused', validate('query', z.object(refusedShape)), async (c) => {
      const { id, key, status, before, limit } = c.req.valid('query');
      const page = { accountId: c.get('person').accountId, requestId: id, keyId: key, status, before, rowsMax: limit };
      const { rows, next } = await readRefusals(database, page);
      return c.json({ refused: rows.map(describeRefusal), next: next ?? null });
    })
    .get('/:id', async (c) => {
      const { accountId, viewedBy } = c.get('person');
      const detail = await readRequestDetail(kysely, accountId, c.req.param('id'));
      if (detail === undefined) throw new ApiError('not_found', 'This account has no request with this id.');
      return c.json(describeDetail(viewedBy === undefined ? detail : { ...detail, content: undefined }));
    });
}
