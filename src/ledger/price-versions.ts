import type { Insertable, Kysely } from 'kysely';
import { partsOf } from '../database/parts-of.ts';
import type { Tables } from '../database/tables.ts';
import type { Picos } from './money.ts';
import type { ModelPrice, TokenPrices } from './price.ts';

/** The names a model's prices are stored under. `long_over` is not a price but the prompt length above which the long prices apply. */
export const PRICE_ITEMS = [
  'input',
  'cached_input',
  'cache_write',
  'output',
  'long_over',
  'long_input',
  'long_cached_input',
  'long_cache_write',
  'long_output',
] as const;
type PriceItem = (typeof PRICE_ITEMS)[number];

type PriceRow = Insertable<Tables['prices']>;

interface PricedModel {
  readonly id: string;
  readonly price: ModelPrice;
}

/**
 * Records the current prices. A model whose prices differ from its newest stored ones gets a new version. Every charge names
 * its version, so it can be recomputed after prices change.
 */
export async function recordPrices(database: Kysely<Tables>, models: readonly PricedModel[]): Promise<ReadonlyMap<string, number>> {
  for (let tries = 1; tries < TRIES_MAX; tries += 1) {
    const { versions, isNew } = await recordOnce(database, models);
    // Read back what was written: another node starting now may have used the same version number for other prices.
    if (!isNew) return versions;
  }
  throw new Error(
    'Could not record the prices: another node is recording different prices at the same time. Give all nodes the same settings.',
  );
}

const TRIES_MAX = 10;

async function recordOnce(
  database: Kysely<Tables>,
  models: readonly PricedModel[],
): Promise<{ readonly versions: ReadonlyMap<string, number>; readonly isNew: boolean }> {
  const newest = await readNewest(database);
  const versions = new Map<string, number>();
  const rows: PriceRow[] = [];
  const nowMs = Date.now();
  for (const { id, price } of models) {
    const items = itemsOf(price);
    const last = newest.get(id);
    const isSame =
      last !== undefined && last.items.size === items.size && [...items].every(([item, pico]) => last.items.get(item) === pico);
    const version = isSame ? last.version : (last?.version ?? 0) + 1;
    versions.set(id, version);
    if (!isSame) for (const [item, pico] of items) rows.push({ model: id, version, item, pico, created_at: nowMs });
  }
  if (rows.length > 0) await insertAll(database, rows);
  return { versions, isNew: rows.length > 0 };
}

/** Inserts all rows or none. If another node took one of the version numbers, the rest would add prices that it does not charge. */
async function insertAll(database: Kysely<Tables>, rows: readonly PriceRow[]): Promise<void> {
  const insert = async (transaction: Kysely<Tables>): Promise<void> => {
    for (const part of partsOf(rows)) {
      const { numInsertedOrUpdatedRows } = await transaction
        .insertInto('prices')
        .values(part)
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirstOrThrow();
      if (numInsertedOrUpdatedRows !== BigInt(part.length)) throw new Taken();
    }
  };
  await database
    .transaction()
    .execute(insert)
    .catch((error: unknown) => {
      if (!(error instanceof Taken)) throw error;
    });
}

/** Another node was first. Rolls back what this one wrote. */
class Taken extends Error {
  override readonly name = 'Taken';
}

function itemsOf(price: ModelPrice): Map<PriceItem, bigint> {
  const items = new Map<PriceItem, bigint>([
    ['input', price.input],
    ['cached_input', price.cachedInput],
    ['cache_write', price.cacheWrite],
    ['output', price.output],
  ]);
  if (price.long === undefined) return items;
  return items
    .set('long_over', BigInt(price.long.overTokens))
    .set('long_input', price.long.input)
    .set('long_cached_input', price.long.cachedInput)
    .set('long_cache_write', price.long.cacheWrite)
    .set('long_output', price.long.output);
}

async function readNewest(database: Kysely<Tables>): Promise<Map<string, { version: number; items: Map<string, bigint> }>> {
  const rows = await database
    .selectFrom('prices')
    .selectAll()
    .where((where) =>
      where(
        'version',
        '=',
        where
          .selectFrom('prices as newer')
          .select(({ fn }) => fn.max('newer.version').as('version'))
          .whereRef('newer.model', '=', 'prices.model'),
      ),
    )
    .execute();
  const newest = new Map<string, { version: number; items: Map<string, bigint> }>();
  for (const row of rows) {
    const entry = newest.get(row.model) ?? { version: Number(row.version), items: new Map<string, bigint>() };
    entry.items.set(row.item, row.pico);
    newest.set(row.model, entry);
  }
  return newest;
}

/** A model's prices from one moment on. */
export interface PriceVersion {
  readonly version: number;
  readonly sinceMs: number;
  readonly price: ModelPrice;
}

/** Returns every version of a model's prices, newest first. */
export async function readVersions(database: Kysely<Tables>, model: string): Promise<PriceVersion[]> {
  const rows = await database.selectFrom('prices').selectAll().where('model', '=', model).orderBy('version', 'desc').execute();
  return [...Map.groupBy(rows, ({ version }) => version)].map(([version, items]) => ({
    version: Number(version),
    sinceMs: Number(items[0]?.created_at),
    price: priceOf(new Map(items.map(({ item, pico }) => [item, pico]))),
  }));
}

/** Returns the start time of every price version, keyed by `model version`. */
export async function readVersionTimes(database: Kysely<Tables>): Promise<ReadonlyMap<string, number>> {
  const rows = await database.selectFrom('prices').select(['model', 'version', 'created_at']).where('item', '=', 'input').execute();
  return new Map(rows.map(({ model, version, created_at: at }) => [`${model} ${version}`, Number(at)]));
}

function priceOf(items: ReadonlyMap<string, bigint>): ModelPrice {
  const pricesOf = (prefix: string): TokenPrices => {
    const of = (item: string): Picos => (items.get(prefix + item) ?? 0n) as Picos;
    return { input: of('input'), cachedInput: of('cached_input'), cacheWrite: of('cache_write'), output: of('output') };
  };
  const over = items.get('long_over');
  return over === undefined ? pricesOf('') : { ...pricesOf(''), long: { ...pricesOf('long_'), overTokens: Number(over) } };
}
