import { Hono } from 'hono';
import { z } from 'zod';
import { priceSchema, type Model } from '../../../catalog/catalog.ts';
import { compareModels, writeModels, type EntryChange } from '../../../catalog/model-entry.ts';
import type { PricedModel } from '../../../gateway/price-list.ts';
import { formatUsd } from '../../../ledger/money.ts';
import type { ModelPrice } from '../../../ledger/price.ts';
import { readVersions, readVersionTimes } from '../../../ledger/price-versions.ts';
import { costOfSums, readModelSums, type ModelSums } from '../../../usage/model-sums.ts';
import { startOfDayBefore } from '../../../usage/zone.ts';
import { ApiError } from '../../api-error.ts';
import { describeModel, describePrice } from '../describe-model.ts';
import { askPriceList, askProviders } from '../../gate-answers.ts';
import type { Env, Dependencies } from '../../dependencies.ts';
import { recent } from '../../recent.ts';
import { zoneShape } from '../../usage-query.ts';
import { validate } from '../../validate.ts';

const WEEK_DAYS = 7;
const CACHE_MS = 60_000;
const ID_CHARS_MAX = 200;

/** Several times the size of the whole list. */
const YAML_CHARS_MAX = 100_000;
const MISTAKES_MAX = 50;

const pasted = z.strictObject({ text: z.string().max(YAML_CHARS_MAX, `must be at most ${YAML_CHARS_MAX} characters`) });
const one = z.object({ id: z.string().max(ID_CHARS_MAX) });
const inZone = z.object({ zone: zoneShape });
const preview = one.extend({
  zone: zoneShape,
  input: priceSchema,
  cachedInput: priceSchema,
  cacheWrite: priceSchema,
  output: priceSchema,
  longInput: priceSchema.optional(),
  longCachedInput: priceSchema.optional(),
  longCacheWrite: priceSchema.optional(),
  longOutput: priceSchema.optional(),
});

/** The whole price list, its recent charges, and previews of other prices. Prices are changed in tollgate.yaml only. */
export function adminModelRoutes({ ask, database: { kysely } }: Dependencies) {
  const readSums = recent((fromMs: number) => readModelSums(kysely, fromMs), CACHE_MS);
  /** Today and the six days before it, by the clock of a zone. */
  const readWeek = async (zone: string) => {
    const toMs = Date.now();
    const fromMs = startOfDayBefore(WEEK_DAYS - 1, toMs, zone);
    return { span: { fromMs, toMs }, sums: await readSums(fromMs) };
  };
  const find = async (id: string): Promise<PricedModel> => {
    const priced = (await askPriceList(ask)).find(({ model }) => model.id === id);
    if (priced === undefined) throw new ApiError('not_found', 'Model not found.');
    return priced;
  };
  return new Hono<Env>()
    .get('/', validate('query', inZone), async (c) => {
      const { zone } = c.req.valid('query');
      const [list, week, times] = await Promise.all([askPriceList(ask), readWeek(zone), readVersionTimes(kysely)]);
      return c.json({
        span: week.span,
        models: list.map((priced) => ({
          ...describePriced(priced),
          sinceMs: times.get(`${priced.model.id} ${priced.priceVersion}`) ?? null,
          week: describeWeek(week.sums.get(priced.model.id)),
        })),
      });
    })
    .get('/one', validate('query', one), async (c) => {
      const { model, shipped } = await find(c.req.valid('query').id);
      const versions = await readVersions(kysely, model.id);
      return c.json({
        versions: versions.map(({ version, sinceMs, price }) => ({ version, sinceMs, ...describePrice(price) })),
        shipped: shipped === undefined ? null : describePrice(shipped.price),
        routes: model.routes.map(({ provider, model: name, weight }) => ({ provider, name, weight: weight ?? null })),
      });
    })
    .get('/preview', validate('query', preview), async (c) => {
      const { id, zone, ...typed } = c.req.valid('query');
      const { model } = await find(id);
      const { sums } = await readWeek(zone);
      const used = sums.get(id) ?? NOTHING;
      const price = withPrices(model.price, typed);
      return c.json({
        week: describeWeek(used),
        now: describeRange(used, model.price),
        would: describeRange(used, price),
        yaml: writeModels([{ ...model, price }]),
      });
    })
    .get('/export', async (c) => {
      const settled = (await askPriceList(ask)).filter(({ source }) => source !== 'discovered').map(({ model }) => model);
      c.header('content-disposition', 'attachment; filename="models.yaml"');
      return c.body(writeModels(settled), 200, { 'content-type': 'text/yaml; charset=utf-8' });
    })
    .post('/check', validate('json', pasted), async (c) => {
      const { configured } = await askProviders(ask);
      const providers = configured.map(({ id }) => id);
      return c.json(await checkText(c.req.valid('json').text, providers, await askPriceList(ask)));
    });
}

/** Returns the mistakes in a text for tollgate.yaml or, if there are none, its effect on the list. */
async function checkText(text: string, providers: readonly string[], list: readonly PricedModel[]) {
  const mistakes: string[] = [];
  // Loaded on demand, because it is rarely needed.
  const { readModels } = await import('../../../settings.ts');
  const models = readModels(text, providers, mistakes);
  return { mistakes: mistakes.slice(0, MISTAKES_MAX), ...(mistakes.length > 0 ? NO_EFFECT : effectOf(list, models)) };
}

const NO_EFFECT = { added: [], changed: [], same: 0, absent: [] } satisfies ReturnType<typeof effectOf>;

/** Returns how the list would change with these models in tollgate.yaml. */
function effectOf(list: readonly PricedModel[], models: readonly Model[]) {
  const present = new Map(list.map(({ model }) => [model.id, model]));
  const written = new Set(models.map(({ id }) => id));
  const found = models.flatMap((model) => {
    const before = present.get(model.id);
    return before === undefined ? [] : [{ id: model.id, changes: compareModels(before, model).map(describeChange) }];
  });
  return {
    added: models.filter(({ id }) => !present.has(id)).map((model) => ({ id: model.id, ...describePrice(model.price) })),
    changed: found.filter(({ changes }) => changes.length > 0),
    same: found.filter(({ changes }) => changes.length === 0).length,
    absent: list.filter(({ source, model }) => source === 'file' && !written.has(model.id)).map(({ model }) => model.id),
  };
}

/** Describes a change. `part` is the relative change of a price, such as 0.5 for +50%; null if there was no price before. */
function describeChange({ field, before, after }: EntryChange) {
  const isPrice = field.startsWith('price.') && !field.endsWith('.over');
  const part = isPrice && after !== undefined && Number(before) > 0 ? Number(after) / Number(before) - 1 : undefined;
  return { field, before: before ?? null, after: after ?? null, part: part ?? null };
}

type TypedPrices = Omit<z.output<typeof preview>, 'id' | 'zone'>;

/** Combines entered prices with the model's. Long-prompt prices default to the model's own, and are ignored if it has none. */
function withPrices({ long }: ModelPrice, typed: TypedPrices): ModelPrice {
  const { input, cachedInput, cacheWrite, output } = typed;
  if (long === undefined) return { input, cachedInput, cacheWrite, output };
  const typedLong = {
    overTokens: long.overTokens,
    input: typed.longInput ?? long.input,
    cachedInput: typed.longCachedInput ?? long.cachedInput,
    cacheWrite: typed.longCacheWrite ?? long.cacheWrite,
    output: typed.longOutput ?? long.output,
  };
  return { input, cachedInput, cacheWrite, output, long: typedLong };
}

function describePriced({ model, source, shipped, priceVersion, state }: PricedModel) {
  return {
    ...describeModel(model),
    source,
    // Models that the file adds also differ from the shipped list.
    isDifferent: source === 'file' && (shipped === undefined || compareModels(shipped, model).length > 0),
    state,
    priceVersion: priceVersion ?? null,
  };
}

const NOTHING = { requests: 0n, inputTokens: 0n, cachedInputTokens: 0n, cacheWriteTokens: 0n, outputTokens: 0n, cost: 0n } as ModelSums;

function describeWeek(sums: ModelSums = NOTHING) {
  return { requests: Number(sums.requests), usd: formatUsd(sums.cost) };
}

function describeRange(sums: ModelSums, price: ModelPrice) {
  const { low, high } = costOfSums(sums, price);
  return { lowUsd: formatUsd(low), highUsd: formatUsd(high) };
}
