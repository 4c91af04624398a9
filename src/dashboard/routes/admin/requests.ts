import { Hono } from 'hono';
import { z } from 'zod';
import { findAccountId, findOwnerOfKey, readOwnerNames, type OwnerNames } from '../../../accounts/owners.ts';
import { readRefusals, type RefusalRow } from '../../../usage/refusals.ts';
import { readRequestDetail } from '../../../usage/request-detail.ts';
import { readRequests, type RequestRow } from '../../../usage/requests.ts';
import { ApiError } from '../../api-error.ts';
import { askCatalogue } from '../../gate-answers.ts';
import type { Env, Dependencies } from '../../dependencies.ts';
import { filterShape, isRange, RANGE_MESSAGE, readFilter, requestsPageShape } from '../../usage-query.ts';
import { validate } from '../../validate.ts';
import { describeDetail, describeRefusal, describeRequest } from '../describe-request.ts';

const { from, to, id, status, error, model, provider } = filterShape;
const text = z.string().trim().min(1).max(200).optional();
const listQuery = z
  .strictObject({ from, to, id, status, error, model, provider, key: text, account: text, ...requestsPageShape })
  .refine(isRange, RANGE_MESSAGE);
const refusedQuery = z.strictObject({ ...requestsPageShape, id, key: text, account: text });

/** Stands for an unknown account: it has no requests. */
const NOBODY = 'nobody';

/** The requests of all accounts. Prompts and answers are visible to their owners only. */
export function adminRequestsRoutes({ database, ask }: Dependencies) {
  const { kysely } = database;
  return new Hono<Env>()
    .get('/', validate('query', listQuery), async (c) => {
      const asked = c.req.valid('query');
      const { key, before, limit } = asked;
      const accountId = await findAccount(asked);
      const filter = readFilter({ ...asked, key: key === undefined ? undefined : [key] });
      const { rows, next, isCutShort } = await readRequests(database, { accountId, filter, before, rowsMax: limit });
      const names = await namesOf(rows);
      return c.json({ requests: rows.map((row) => withOwner(describeRequest(row), row, names)), next: next ?? null, isCutShort });
    })
    .get('/refused', validate('query', refusedQuery), async (c) => {
      const asked = c.req.valid('query');
      const query = {
        accountId: await findAccount(asked),
        requestId: asked.id,
        keyId: asked.key,
        before: asked.before,
        rowsMax: asked.limit,
      };
      const { rows, next } = await readRefusals(database, query);
      const names = await namesOf(rows);
      return c.json({ refused: rows.map((row) => withOwner(describeRefusal(row), row, names)), next: next ?? null });
    })
    .get('/names', async (c) => {
      const models = await askCatalogue(ask);
      const providers = new Set(models.flatMap(({ routes }) => routes.map((route) => route.provider)));
      return c.json({ models: models.map((each) => each.id).toSorted(), providers: [...providers].toSorted() });
    })
    .get('/:id', async (c) => {
      const detail = await readRequestDetail(kysely, undefined, c.req.param('id'));
      if (detail === undefined) throw new ApiError('not_found', 'Request not found.');
      return c.json(withOwner(describeDetail(detail), detail.row, await namesOf([detail.row])));
    });

  /**
   * Returns the account to search in; undefined for all. A key is searched in its owner's requests, where an index finds it. A request
   * id is searched in all accounts.
   */
  async function findAccount({ id: requestId, account, key }: z.output<typeof refusedQuery>): Promise<string | undefined> {
    if (requestId !== undefined) return undefined;
    if (account !== undefined) return (await findAccountId(kysely, account)) ?? NOBODY;
    return key === undefined ? undefined : ((await findOwnerOfKey(kysely, key)) ?? NOBODY);
  }

  function namesOf(rows: readonly Whose[]): Promise<OwnerNames> {
    return readOwnerNames(kysely, {
      accountIds: [...new Set(rows.map((row) => row.account_id))],
      keyIds: [...new Set(rows.map((row) => row.key_id))],
    });
  }
}

type Whose = Pick<RequestRow | RefusalRow, 'account_id' | 'key_id'>;

function withOwner<Shown extends object>(shown: Shown, { account_id: accountId, key_id: keyId }: Whose, { emails, keys }: OwnerNames) {
  return { ...shown, accountId, email: emails.get(accountId) ?? accountId, keyName: keys.get(keyId) ?? keyId };
}
