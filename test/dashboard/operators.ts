import type { TestBrowser, TestDashboard } from './open-dashboard.ts';

/** Opens a browser of an operator with a second factor. The operator link and the second factor have their own tests. */
export async function enterAsOperator(dashboard: TestDashboard, email = 'operator@example.com'): Promise<TestBrowser> {
  const { kysely } = dashboard.dependencies.database;
  const browser = await dashboard.signedUp(email);
  // The account is created by the first request for it.
  await browser.get('/api/account');
  await kysely.updateTable('accounts').set({ is_admin: 1 }).where('email', '=', email).execute();
  await kysely.updateTable('people').set({ two_factor_enabled: 1 }).where('email', '=', email).execute();
  await kysely.updateTable('sessions').set({ passed_second_factor: 1 }).execute();
  return browser;
}
