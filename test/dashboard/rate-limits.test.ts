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
});
