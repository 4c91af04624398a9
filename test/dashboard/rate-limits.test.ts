import { expect, test } from 'bun:test';
import { connect } from '../../src/database/connect.ts';
import { migrate } from '../../src/database/migrate.ts';
import { deleteOldAttempts, RateLimits } from '../../src/dashboard/rate-limits.ts';
import { describeStores } from './stores.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const RULE = { kind: 'sign-in', max: 5, windowMs: MINUTE_MS };

describeStores((makeStore) => {
  test('a count is deleted a day after its window has ended, and not before', async () => {
    const store = await makeStore();
    const { kysely, dialect } = await connect(store);
    await migrate(kysely, dialect);
    const startedAtMs = Date.now();
    await new RateLimits(kysely).admit([[RULE, 'ada@example.com']]);
    const left = async (nowMs: number): Promise<number> => {
      await deleteOldAttempts(kysely, nowMs);
      return (await kysely.selectFrom('auth_rate_limits').select('name').execute()).length;
    };
    expect(await left(startedAtMs + DAY_MS)).toBe(1);
    expect(await left(Date.now() + MINUTE_MS + DAY_MS + 1)).toBe(0);
    await kysely.destroy();
    await store.remove();
  });

  test('a client with any number of addresses neither fills the table nor drops a count', async () => {
    const store = await makeStore();
    const { kysely, dialect } = await connect(store);
    await migrate(kysely, dialect);
    const limits = new RateLimits(kysely, 160);
    const isRefused = async (name: string, rule = RULE): Promise<boolean> =>
      limits.admit([[rule, name]]).then(
        () => false,
        () => true,
      );
    for (let tries = 0; tries < RULE.max; tries += 1) expect(await isRefused('stopped')).toBe(false);
    const longer = { kind: 'other', max: 1_000_000, windowMs: DAY_MS };
    for (let address = 0; address < 1000; address += 1) expect(await isRefused(`address ${address}`, longer)).toBe(false);
    // The rows so far, those until the next look at their number, and the shared ones.
    expect((await kysely.selectFrom('auth_rate_limits').select('name').execute()).length).toBeLessThanOrEqual(160 + 200 + 10);
    expect(await isRefused('stopped')).toBe(true);
    for (let tries = 0; tries < RULE.max; tries += 1) expect(await isRefused('latecomer')).toBe(false);
    expect(await isRefused('latecomer')).toBe(true);
    await kysely.destroy();
    await store.remove();
  });

  test('a refused attempt makes no rows for what it names', async () => {
    const store = await makeStore();
    const { kysely, dialect } = await connect(store);
    await migrate(kysely, dialect);
    const limits = new RateLimits(kysely);
    for (let tries = 0; tries < 50; tries += 1)
      await limits
        .admit([
          [RULE, 'a network'],
          [{ ...RULE, kind: 'email' }, `person ${tries}`],
        ])
        .catch(() => undefined);
    expect(await kysely.selectFrom('auth_rate_limits').select('name').execute()).toHaveLength(1 + RULE.max);
    await kysely.destroy();
    await store.remove();
  });
});
