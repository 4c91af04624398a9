import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { errorOf } from './answers.ts';
import { openDashboard, type TestDashboard } from './open-dashboard.ts';
import { makeSqlite } from './stores.ts';

const AT_ONCE = 30;
const FILE = '/api/keys/csv';

describe('one person', () => {
  let dashboard: TestDashboard;

  beforeAll(async () => {
    dashboard = await openDashboard(await makeSqlite());
  });
  afterAll(() => dashboard.end());

  test('has only so many requests answered at once, however they end, and others are not affected', async () => {
    const busy = await dashboard.signedUp('busy@example.com');
    const other = await dashboard.signedUp('other@example.com');
    const open = await Promise.all(Array.from({ length: AT_ONCE }, () => busy.get(FILE)));
    const refused = await busy.get('/api/account');
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect((await errorOf(refused)).message).toContain('You have 30 requests running');
    expect((await other.get('/api/account')).status).toBe(200);
    const [first, second, ...rest] = open;
    expect(await first?.text()).toStartWith('id,');
    await second?.body?.cancel();
    expect([await busy.get(FILE), await busy.get(FILE), await busy.get(FILE)].map(({ status }) => status)).toEqual([200, 200, 429]);
    for (const each of rest) await each.body?.cancel();
    for (let index = 0; index < AT_ONCE; index += 1) {
      expect((await busy.get('/api/account')).status).toBe(200);
      expect((await busy.get('/api/keys/unknown')).status).toBe(404);
    }
  });

  test('can export everything a few times in a row, but not without end', async () => {
    const hoarder = await dashboard.signedUp('hoarder@example.com');
    const statuses = [];
    for (let index = 0; index < 6; index += 1) statuses.push((await hoarder.get('/api/settings/export')).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
  });
});
