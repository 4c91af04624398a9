import { CompiledQuery, type Kysely, type KyselyPlugin, type RootOperationNode } from 'kysely';
import type { Tables } from '../../src/database/tables.ts';

/** Returns the query plans of some work on the embedded database. They show the indexes used, and any full scan or sort. */
export async function plansOf(kysely: Kysely<Tables>, work: (kysely: Kysely<Tables>) => Promise<unknown>): Promise<string[]> {
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
