import { CompiledQuery, type Kysely, type KyselyPlugin, type RootOperationNode } from 'kysely';
import type { Tables } from '../../src/database/tables.ts';

/** Which indexes of the embedded database a piece of work reads by; whatever reads or sorts a whole table stands there by that. */
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
