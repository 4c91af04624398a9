import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Dashboard } from '../../src/dashboard/dashboard.ts';
import type { DashboardSettings } from '../../src/dashboard/messages.ts';
import { connect } from '../../src/database/connect.ts';
import { migrate } from '../../src/database/migrate.ts';
import { ORIGIN, SETTINGS as USUAL } from './open-dashboard.ts';

const folder = mkdtempSync(join(tmpdir(), 'tollgate-thread-'));
afterAll(() => rmSync(folder, { recursive: true }));

const SETTINGS: DashboardSettings = { ...USUAL, databaseUrl: undefined, databasePath: join(folder, 'tollgate.db') };
/** Nobody listens there. */
const AWAY = 'postgres://tollgate@127.0.0.1:1/tollgate';

test('a database that is away when the thread starts is no reason to stay away when it is back', async () => {
  const { kysely, dialect } = await connect(SETTINGS);
  await migrate(kysely, dialect);
  await kysely.destroy();
  let databaseUrl: string | undefined = AWAY;
  const failures: string[] = [];
  const dashboard = new Dashboard(() => ({ ...SETTINGS, databaseUrl }), {
    answer: async () => [],
    failed: (event) => failures.push(event),
    notice: () => undefined,
  });
  const ask = async (): Promise<number> => (await dashboard.fetch(new Request(`${ORIGIN}/api/session`), '192.0.2.1')).status;
  const beganAtMs = performance.now();
  expect(await ask()).toBe(500);
  expect(performance.now() - beganAtMs).toBeLessThan(10_000);
  expect(failures).toContain("the dashboard's thread ended");
  databaseUrl = undefined;
  expect(await ask()).toBeLessThan(500);
  await dashboard.close();
});
