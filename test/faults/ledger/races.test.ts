import { afterEach, expect, test } from 'bun:test';
import { Plans } from '../../../src/accounts/plans.ts';
import { Subscriptions } from '../../../src/accounts/subscriptions.ts';
import { asNanos, NO_MONEY } from '../../../src/ledger/money.ts';
import { postgresUrl } from '../../services/postgres.ts';
import { describeModel } from '../../simulator/gate.ts';
import { costNanos } from '../../simulator/invoice.ts';
import type { Usage } from '../../simulator/wire.ts';
import { ask, type Asked, errorCodeOf, isFinished } from './ask.ts';
import { openSite, type Site, type SiteKey, type Store } from './site.ts';

const REQUESTS = 10_000;
const PLAN_REQUESTS = 2000;
const CALLERS = 64;
const CENT_NANOS = 10_000_000n;
/** A request costs about a thousandth of a cent, so about a thousand are answered and all others must be refused. */
const PRICE = { input: 0.2, output: 0.6 };
const PRICE_PICO = { input: 200_000n, cachedInput: 200_000n, cacheWrite: 200_000n, output: 600_000n };
const BODY = { model: 'mock/cheap', messages: [{ role: 'user', content: 'Race' }], max_tokens: 14 };

let site: Site;
afterEach(() => site.stop(), 60_000);

const SITES: readonly [Store, number][] = [['sqlite', 1], ...(postgresUrl === undefined ? [] : ([['postgres', 3]] as [Store, number][]))];

test.each(SITES)(
  `${CALLERS} callers race for one cent on %s with %i gateways and never spend more`,
  async (store, nodes) => {
    site = await openSite({ store, models: [describeModel('mock/cheap', 'mock', PRICE)] });
    const key = await site.makeKey('0.01');
    const started = await Promise.all(Array.from({ length: nodes }, () => site.startNode()));
    const startedAtMs = performance.now();
    const asked = await race(
      started.map(({ origin }) => origin),
      key,
      REQUESTS,
    );
    const seconds = (performance.now() - startedAtMs) / 1000;

    const finished = asked.filter(isFinished);
    const refused = asked.filter((each) => each.status === 403 && errorCodeOf(each) === 'insufficient_quota');
    console.log(`races: ${store}: ${finished.length} answers and ${refused.length} refusals in ${seconds.toFixed(1)} s`);
    expect(finished.length + refused.length).toBe(asked.length);

    const invoicedNanos = site.provider.requests.reduce((sum, { usage }) => sum + costNanos(usage as Usage, PRICE_PICO), 0n);
    const { wallet, rows } = await readLedger(key);
    expect(site.provider.requests).toHaveLength(finished.length);
    expect(rows).toBe(BigInt(finished.length));
    expect(wallet).toMatchObject({ credits_posted: CENT_NANOS, debits_posted: invoicedNanos, debits_pending: 0n });
    expect(invoicedNanos).toBeLessThanOrEqual(CENT_NANOS);
    // The rest does not pay for one more request: nothing was refused too early.
    expect(CENT_NANOS - invoicedNanos).toBeLessThan(holdNanos());
    await site.verify();
  },
  180_000,
);

test.each(SITES)(
  `${CALLERS} callers race for a plan's last cent on %s with %i gateways and never touch the balance`,
  async (store, nodes) => {
    site = await openSite({ store, models: [describeModel('mock/cheap', 'mock', PRICE)] });
    const key = await site.makeKey('5');
    await site.withDatabase(async (database) => {
      const plan = {
        id: 'cent',
        name: 'Cent',
        price: NO_MONEY,
        interval: 'month',
        included: asNanos(CENT_NANOS),
        isOffered: false,
      } as const;
      await new Plans(database).save({ ...plan, useFirst: 'plan', overflow: 'stop' }, 'command');
      await new Subscriptions(database).assign(key.accountId, 'cent', { nowMs: Date.now() });
    });
    const started = await Promise.all(Array.from({ length: nodes }, () => site.startNode()));
    const asked = await race(
      started.map(({ origin }) => origin),
      key,
      PLAN_REQUESTS,
    );
    const finished = asked.filter(isFinished);
    expect(asked.filter((each) => each.status === 403 && errorCodeOf(each) === 'insufficient_quota')).toHaveLength(
      asked.length - finished.length,
    );
    const invoicedNanos = site.provider.requests.reduce((sum, { usage }) => sum + costNanos(usage as Usage, PRICE_PICO), 0n);
    expect(invoicedNanos).toBeLessThanOrEqual(CENT_NANOS);
    expect(CENT_NANOS - invoicedNanos).toBeLessThan(holdNanos());
    expect(await readCredit(key)).toEqual([
      { kind: 'manual', remaining: 5_000_000_000n },
      { kind: 'plan', remaining: CENT_NANOS - invoicedNanos },
    ]);
    await site.verify();
  },
  180_000,
);

async function race(origins: readonly string[], key: SiteKey, requests: number): Promise<readonly Asked[]> {
  const asked: Asked[] = [];
  let left = requests;
  const run = async (caller: number): Promise<void> => {
    for (; left > 0;) {
      left -= 1;
      // Every second caller streams.
      asked.push(await ask(origins[caller % origins.length] ?? '', key, caller % 2 === 0 ? BODY : { ...BODY, stream: true }));
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, (_, caller) => run(caller)));
  // The last callers may have been refused while others held more than they then spent. What those gave back is spent one by one.
  do asked.push(await ask(origins[0] ?? '', key, BODY));
  while (asked.at(-1)?.status === 200);
  return asked;
}

async function readLedger(key: SiteKey): Promise<{ wallet: unknown; rows: bigint }> {
  return site.withDatabase(async (database) => ({
    wallet: await database.selectFrom('wallets').selectAll().where('account_id', '=', key.accountId).executeTakeFirst(),
    rows: (
      await database
        .selectFrom('usage')
        .select(({ fn }) => fn.countAll<bigint>().as('rows'))
        .executeTakeFirstOrThrow()
    ).rows,
  }));
}

async function readCredit({ accountId }: SiteKey): Promise<unknown> {
  return site.withDatabase((database) =>
    database.selectFrom('grants').select(['kind', 'remaining']).where('account_id', '=', accountId).orderBy('kind').execute(),
  );
}

/** Returns the hold of the longer of the two requests: one token per byte of the body, plus the output limit. */
function holdNanos(): bigint {
  const bytes = BigInt(JSON.stringify({ ...BODY, stream: true }).length);
  return (bytes * PRICE_PICO.input + BigInt(BODY.max_tokens) * PRICE_PICO.output + 999n) / 1000n;
}
