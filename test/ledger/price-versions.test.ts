import { expect, test } from 'bun:test';
import type { Kysely } from 'kysely';
import type { Tables } from '../../src/database/tables.ts';
import type { Picos } from '../../src/ledger/money.ts';
import { readVersions, recordPrices } from '../../src/ledger/price-versions.ts';
import type { ModelPrice } from '../../src/ledger/price.ts';
import { eachStore } from '../database/each-store.ts';

function priceOf(pico: bigint): ModelPrice {
  const each = pico as Picos;
  return { input: each, cachedInput: each, cacheWrite: each, output: each };
}

/** The same database, on which other work runs after the first statement. */
function interrupted(database: Kysely<Tables>, work: () => Promise<unknown>): Kysely<Tables> {
  let isFirst = true;
  return database.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      if (!isFirst) return result;
      isFirst = false;
      await work();
      return result;
    },
  });
}

eachStore((database) => {
  test('two nodes that record different prices at the same moment do not mix them into one version', async () => {
    const { kysely } = database();
    const short = priceOf(1000n);
    const long = { ...priceOf(2000n), long: { ...priceOf(3000n), overTokens: 100 } };
    const versions: number[] = [];
    const record = async (node: Kysely<Tables>, price: ModelPrice) =>
      versions.push((await recordPrices(node, [{ id: 'some/model', price }])).get('some/model') ?? 0);
    await record(
      interrupted(kysely, () => record(kysely, short)),
      long,
    );
    expect(versions).toEqual([1, 2]);
    const recorded = await readVersions(kysely, 'some/model');
    expect(recorded.map(({ version, price }) => ({ version, price }))).toEqual([
      { version: 2, price: long },
      { version: 1, price: short },
    ]);
  });
});
