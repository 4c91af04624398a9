import { afterAll, beforeAll, expect, test } from 'bun:test';
import { CompiledQuery, type Kysely, type KyselyPlugin, type RootOperationNode } from 'kysely';
import { connect, type OpenDatabase } from '../../src/database/connect.ts';
import { migrate } from '../../src/database/migrate.ts';
import type { Tables } from '../../src/database/tables.ts';
import { PaymentList } from '../../src/payments/payment-list.ts';
import { listProblems } from '../../src/payments/problems.ts';
import { makeSqlite, type Store } from '../dashboard/stores.ts';

const PAGE = { before: '5-pay_1', rowsMax: 50 };

let store: Store;
let database: OpenDatabase;
beforeAll(async () => {
  store = await makeSqlite();
  database = await connect(store);
  await migrate(database.kysely, database.dialect);
});
afterAll(async () => {
  await database.kysely.destroy();
  await store.remove();
});

/** Which indexes a piece of work reads by; whatever reads or sorts a whole table stands there by that. */
async function plansOf(work: (kysely: Kysely<Tables>) => Promise<unknown>): Promise<string[]> {
  const { kysely } = database;
  const nodes: { node: RootOperationNode; queryId: Parameters<KyselyPlugin['transformQuery']>[0]['queryId'] }[] = [];
  const plugin: KyselyPlugin = {
    transformQuery: ({ node, queryId }) => {
      nodes.push({ node, queryId });
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  await work(kysely.withPlugin(plugin));
  const plans = [];
  for (const { node, queryId } of nodes) {
    const { sql: text, parameters } = kysely.getExecutor().compileQuery(node, queryId);
    const { rows } = await kysely.executeQuery<{ detail: string }>(CompiledQuery.raw(`EXPLAIN QUERY PLAN ${text}`, [...parameters]));
    plans.push(...rows.map(({ detail }) => detail));
  }
  return plans;
}

test('what is wrong is found by indexes of just that', async () => {
  const plans = await plansOf((kysely) => listProblems(kysely, Date.now(), 100));
  expect(plans).toEqual([
    'SEARCH webhook_events USING INDEX webhook_events_by_outcome (outcome=?)',
    'SEARCH webhook_events USING INDEX webhook_events_by_outcome (outcome=?)',
    'SEARCH payments USING INDEX payments_by_status (status=? AND created_at<?)',
    'SEARCH payments USING INDEX payments_by_status (status=? AND created_at<?)',
    'SCAN payment_reversals USING INDEX payment_disputes',
    'SEARCH payments USING INDEX sqlite_autoindex_payments_2 (provider_ref=?)',
    'SEARCH payments USING INDEX payments_misspent (status=?)',
  ]);
});

test.each([
  [{}, 'payments_by_time'],
  [{ status: 'open', provider: 'manual' }, 'payments_by_status'],
  [{ account: 'ada@example.com' }, 'payments_by_account'],
  [{ reference: 'pi_1' }, 'sqlite_autoindex_payments'],
] as const)('a page of payments of %j is read by %s', async (filter, index) => {
  const plans = await plansOf((kysely) => new PaymentList(kysely).read(filter, PAGE));
  expect(plans.filter((plan) => /^SCAN \w+$/u.test(plan))).toEqual([]);
  expect(plans.join('\n')).toContain(`SEARCH payments USING INDEX ${index}`);
});
