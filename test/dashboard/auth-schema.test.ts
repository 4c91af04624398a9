import { expect, test } from 'bun:test';
import { getMigrations } from 'better-auth/db/migration';
import type { Kysely } from 'kysely';
import { authOptions } from '../../src/dashboard/auth/options.ts';
import { openForeignKysely } from '../../src/database/kysely.ts';
import { openDashboard } from './open-dashboard.ts';
import { describeStores } from './stores.ts';

describeStores((makeStore) => {
  test('the database has all tables and columns that the authentication library needs', async () => {
    const store = await makeStore();
    const dashboard = await openDashboard(store);
    const { settings, database } = dashboard.dependencies;
    const own = database.dialect === 'sqlite' ? openForeignKysely(store.databasePath) : (database.kysely as Kysely<unknown>);
    const options = authOptions({ settings, secret: 'x'.repeat(32), database: own, dialect: database.dialect });
    const { toBeCreated, toBeAdded } = await getMigrations(options);
    expect(toBeCreated).toEqual([]);
    expect(toBeAdded).toEqual([]);
    await own.destroy();
    await dashboard.end();
  });
});
