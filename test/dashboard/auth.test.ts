import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openDashboard, type TestDashboard } from './open-dashboard.ts';
import { describeStores, type Store } from './stores.ts';

describeStores((makeStore) => {
  let store: Store;
  let dashboard: TestDashboard;

  beforeAll(async () => {
    store = await makeStore();
    dashboard = await openDashboard(store);
  });
  afterAll(async () => {
    await dashboard.close();
    await store.remove();
  });

  test('whoever signs up is signed in, and has an account with an empty wallet', async () => {
    const browser = dashboard.browser();
    expect((await browser.get('/api/account')).status).toBe(401);
    const signedUp = await browser.signUp('ada@example.com');
    expect(await signedUp.json()).toMatchObject({ user: { email: 'ada@example.com' } });
    const account = await browser.get('/api/account');
    expect(await account.json()).toMatchObject({ email: 'ada@example.com', balanceUsd: '0', isEmailVerified: false, isOperator: false });
    expect(dashboard.failures).toEqual([]);
  });

  test('whoever signs out is out, and comes in again with the password', async () => {
    const browser = dashboard.browser();
    await browser.signUp('grace@example.com');
    expect((await browser.send('POST', '/api/auth/sign-out')).status).toBe(200);
    expect((await browser.get('/api/account')).status).toBe(401);
    expect((await browser.signIn('grace@example.com', 'not the password')).status).toBe(401);
    expect((await browser.signIn('Grace@Example.com')).status).toBe(200);
    expect((await browser.get('/api/account')).status).toBe(200);
  });
});
