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
  test('thousands of models are recorded, more than one statement could take', async () => {
    const { kysely } = database();
    const price = { ...priceOf(1000n), long: { ...priceOf(2000n), overTokens: 100 } };
    const models = Array.from({ length: 5000 }, (_, index) => ({ id: `many/${index}`, price }));
    const versions = await recordPrices(kysely, models);
    expect(versions.size).toBe(5000);
    expect((await readVersions(kysely, 'many/4999')).map(({ version }) => version)).toEqual([1]);
    expect((await recordPrices(kysely, models)).get('many/0')).toBe(1);
  }, 120_000);

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
