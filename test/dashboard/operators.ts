import type { TestBrowser, TestDashboard } from './open-dashboard.ts';

/** A browser of somebody who runs the service, with a second factor. The link and the factor themselves have tests of their own. */
export async function enterAsOperator(dashboard: TestDashboard, email = 'operator@example.com'): Promise<TestBrowser> {
  const { kysely } = dashboard.parts.database;
  const browser = await dashboard.signedUp(email);
  // The account is made when it is first asked for.
  await browser.get('/api/account');
  await kysely.updateTable('accounts').set({ is_admin: 1 }).where('email', '=', email).execute();
  await kysely.updateTable('people').set({ two_factor_enabled: 1 }).where('email', '=', email).execute();
  return browser;
}
