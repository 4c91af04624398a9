import { Hono } from 'hono';
import { z } from 'zod';
import type { PageOf } from '../../../database/pages.ts';
import { Plans } from '../../../accounts/plans.ts';
import { PromoCodes } from '../../../accounts/promo-codes.ts';
import {
  findPromo,
  PROMO_STATES,
  readCampaigns,
  readPromos,
  readRedemptions,
  sumCampaign,
  type Redemption,
  type PromoWithState,
} from '../../../accounts/promo-list.ts';
import { findMaxCost, promoOrderSchema, type PromoOrder } from '../../../accounts/promo-order.ts';
import { formatUsd, type Nanos } from '../../../ledger/money.ts';
import { writeCsvLine } from '../../../usage/csv.ts';
import { zoneWriter } from '../../../usage/zone.ts';
import { ApiError } from '../../api-error.ts';
import { download } from '../../download.ts';
import type { Env, Dependencies } from '../../dependencies.ts';
import { zoneShape } from '../../usage-query.ts';
import { PAGE_ROWS, placeShape, validate } from '../../validate.ts';

const EXPORT_ROWS = 1000;
const CAMPAIGNS_MAX = 500;

const campaign = z.string().min(1).max(200);
const listQuery = z.object({
  campaign: campaign.optional(),
  code: z.string().max(200).optional(),
  state: z.enum(PROMO_STATES).optional(),
  before: placeShape,
});
const exportQuery = z.object({ campaign, zone: zoneShape });
const stopSchema = z.strictObject({ campaign });
/** The form generates the order's id, so that the same order is carried out only once, however often it arrives. */
const createSchema = z.strictObject({ orderId: z.string().regex(/^[0-9a-z]{29}$/u), order: promoOrderSchema });

/** Promo codes: creating, listing and stopping them, and their redemptions. */
export function adminCodeRoutes({ database: { kysely } }: Dependencies) {
  const codes = new PromoCodes(kysely);
  const most = async (order: PromoOrder): Promise<Nanos> => {
    const amount = await findMaxCost(kysely, order);
    if (amount === undefined) throw new ApiError('invalid', 'Plan not found.', 'planId');
    return amount;
  };
  return new Hono<Env>()
    .get('/', validate('query', listQuery), async (c) => {
      const { before, ...filter } = c.req.valid('query');
      const { rows, next } = await readPromos(kysely, filter, { before, rowsMax: PAGE_ROWS });
      return c.json({
        codes: rows.map(describeCode),
        plans: (await new Plans(kysely).read()).filter(({ isEnded }) => !isEnded).map(({ id, name }) => ({ id, name })),
        campaigns: await readCampaigns(kysely, CAMPAIGNS_MAX),
        campaign: filter.campaign === undefined ? null : await sumCampaign(kysely, filter.campaign),
        next: next ?? null,
      });
    })
    .post('/check', validate('json', promoOrderSchema), async (c) => {
      const order = c.req.valid('json');
      return c.json({ codes: 'code' in order.which ? 1 : order.which.count, mostUsd: formatUsd(await most(order)) });
    })
    .post('/', validate('json', createSchema), async (c) => {
      const { orderId, order } = c.req.valid('json');
      await most(order);
      const made = { actor: c.get('person').email, id: `promo_${orderId}` };
      const fresh = await codes.create(order.which, order.benefit, order.rules, made);
      if (fresh !== undefined) return c.json({ codes: fresh });
      if ('code' in order.which) throw new ApiError('conflict', 'This code already exists.', 'code');
      throw new ApiError(
        'conflict',
        'These codes were already created and are shown only once. If you did not keep them, stop them and create new ones.',
      );
    })
    .post('/stop', validate('json', stopSchema), async (c) =>
      c.json({ stopped: await codes.stop(c.req.valid('json'), c.get('person').email) }),
    )
    .post('/:id/stop', async (c) => c.json({ stopped: await codes.stop({ id: c.req.param('id') }, c.get('person').email) }))
    .get('/:id', validate('query', z.object({ before: placeShape })), async (c) => {
      const code = await findPromo(kysely, c.req.param('id'));
      if (code === undefined) throw new ApiError('not_found', 'Code not found.');
      const page = { before: c.req.valid('query').before, rowsMax: PAGE_ROWS };
      const { rows, next } = await readRedemptions(kysely, { codeId: code.id }, page);
      return c.json({ code: describeCode(code), redemptions: rows.map(describeRedemption), next: next ?? null });
    })
    .get('/redemptions/export', validate('query', exportQuery), async (c) => {
      const { zone, ...of } = c.req.valid('query');
      const readPage = (place: string | undefined): Promise<PageOf<Redemption>> =>
        readRedemptions(kysely, of, { before: place, rowsMax: EXPORT_ROWS });
      return download('redemptions.csv', writeRedemptions(readPage, zone));
    });
}

async function* writeRedemptions(
  readPage: (before: string | undefined) => Promise<PageOf<Redemption>>,
  zone: string,
): AsyncGenerator<string> {
  const writeTime = zoneWriter(zone);
  yield writeCsvLine(['time', 'zone', 'account', 'email', 'code_id', 'code', 'gives', 'plan', 'periods', 'given_usd', 'state']);
  let place: string | undefined;
  do {
    const { rows, next } = await readPage(place);
    yield rows.map((redemption) => writeCsvLine(cellsOf(redemption, writeTime(redemption.createdAtMs), zone))).join('');
    place = next;
  } while (place !== undefined);
}

function cellsOf(
  { accountId, email, codeId, shown, benefit, given, isWaiting }: Redemption,
  time: string,
  zone: string,
): (string | number)[] {
  const [plan, periods] = benefit.kind === 'plan' ? [benefit.planId, benefit.periods] : ['', ''];
  const amount = given === undefined ? '' : formatUsd(given);
  return [time, zone, accountId, email, codeId, shown, benefit.kind, plan, periods, amount, isWaiting ? 'waiting' : 'done'];
}

/** Describes what a code gives. Fields that do not apply to its kind are null. */
function describeBenefit(benefit: PromoWithState['benefit']) {
  const isPlan = benefit.kind === 'plan';
  return {
    kind: benefit.kind,
    usd: isPlan ? null : formatUsd(benefit.amount),
    percent: benefit.kind === 'bonus' ? benefit.percent : null,
    creditDays: isPlan ? null : (benefit.creditDays ?? null),
    planId: isPlan ? benefit.planId : null,
    periods: isPlan ? benefit.periods : null,
  };
}

function describeCode(code: PromoWithState) {
  return {
    id: code.id,
    shown: code.shown,
    campaign: code.campaign,
    benefit: describeBenefit(code.benefit),
    used: code.used,
    uses: code.usesMax,
    perAccount: code.perAccount,
    newAccountDays: code.newAccountDays ?? null,
    minimumTopUpUsd: code.minimumTopUp === 0n ? null : formatUsd(code.minimumTopUp),
    validFromMs: code.validFromMs ?? null,
    validToMs: code.validToMs ?? null,
    state: code.state,
    createdAtMs: code.createdAtMs,
  };
}

function describeRedemption({ accountId, email, n, benefit, given, isWaiting, createdAtMs }: Redemption) {
  return {
    accountId,
    email,
    n,
    benefit: describeBenefit(benefit),
    givenUsd: given === undefined ? null : formatUsd(given),
    isWaiting,
    createdAtMs,
  };
}
