import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Invitations, inviteByLink } from '../../src/accounts/invitations.ts';
import { hashSecret } from '../../src/accounts/key-secret.ts';
import { KeyUses } from '../../src/accounts/key-uses.ts';
import { Keys } from '../../src/accounts/keys.ts';
import { deleteTraces } from '../../src/dashboard/people/close.ts';
import { Contents } from '../../src/usage/contents.ts';
import { seedUsage } from '../usage/seed-usage.ts';
import { jsonOf } from './answers.ts';
import { openDashboard, PASSWORD, type TestDashboard } from './open-dashboard.ts';
import { enterAsOperator } from './operators.ts';
import { describeStores } from './stores.ts';

describeStores((makeStore) => {
  describe('deleting an account', () => {
    let dashboard: TestDashboard;

    beforeAll(async () => {
      dashboard = await openDashboard(await makeStore());
    });
    afterAll(() => dashboard.end());

    test('removes keys, sessions and the name, and keeps the ledger', async () => {
      const { kysely } = dashboard.dependencies.database;
      const email = 'gone@example.com';
      const browser = await dashboard.signedUp(email);
      const { id } = await jsonOf(await browser.get('/api/account'));
      await browser.send('POST', '/api/account/first-key');
      expect((await browser.send('POST', '/api/settings/delete', { password: 'wrong password' })).status).toBe(400);
      expect((await browser.send('POST', '/api/settings/delete', { password: PASSWORD })).status).toBe(200);
      expect((await browser.get('/api/account')).status).toBe(401);
      expect((await dashboard.browser().signIn(email)).status).toBe(401);
      expect(await new Keys(kysely).list(String(id))).toEqual([]);
      const account = await kysely.selectFrom('accounts').selectAll().where('id', '=', String(id)).executeTakeFirstOrThrow();
      expect(account).toMatchObject({ email: `closed:${String(id)}`, status: 'suspended' });
      expect(account.closed_at).not.toBeNull();
      expect(await kysely.selectFrom('wallets').selectAll().where('account_id', '=', String(id)).execute()).toHaveLength(1);
      const entries = await kysely.selectFrom('audit').select(['actor', 'action']).where('subject', '=', String(id)).execute();
      expect(entries).toContainEqual({ actor: 'deleted user', action: 'close' });
      // The address can be used again.
      expect((await dashboard.browser().signUp(email)).status).toBe(200);
    });

    test('removes the address from used invitations and withdraws open ones', async () => {
      const { kysely } = dashboard.dependencies.database;
      const email = 'invited@example.com';
      const invite = async (): Promise<string> => {
        const { link } = await inviteByLink(kysely, { kind: 'person', email, url: 'http://gate.test', actor: 'operator@example.com' });
        return new URL(link).searchParams.get('invitation') ?? '';
      };
      const invitations = new Invitations(kysely);
      const [used, open] = [await invite(), await invite()];
      await invitations.use(used);
      const browser = await dashboard.signedUp(email);
      expect((await browser.send('POST', '/api/settings/delete', { password: PASSWORD })).status).toBe(200);
      expect(await invitations.find(used)).toEqual({ kind: 'person', email: undefined, state: 'used' });
      expect(await invitations.find(open)).toEqual({ kind: 'person', email: undefined, state: 'expired' });
      const entries = await kysely.selectFrom('audit').select(['actor', 'detail']).where('action', '=', 'invitation.create').execute();
      expect(entries).toEqual(Array.from({ length: 2 }, () => ({ actor: 'operator@example.com', detail: '{}' })));
    });

    test("withdraws open links for operators with an operator's account", async () => {
      const { kysely } = dashboard.dependencies.database;
      const invitations = new Invitations(kysely);
      const link = await invitations.create({ kind: 'operator', email: undefined, lifeMs: 60_000 });
      await enterAsOperator(dashboard);
      const leaver = await enterAsOperator(dashboard, 'leaver@example.com');
      expect((await leaver.send('POST', '/api/settings/delete', { password: PASSWORD })).status).toBe(200);
      expect(await invitations.find(link)).toMatchObject({ state: 'expired' });
    });

    test('also removes the traces of requests that were still running', async () => {
      const { database } = dashboard.dependencies;
      const { kysely } = database;
      const browser = await dashboard.signedUp('running@example.com');
      const accountId = String((await jsonOf(await browser.get('/api/account')))['id']);
      const { secret } = await jsonOf(await browser.send('POST', '/api/account/first-key'));
      expect((await browser.send('POST', '/api/settings/delete', { password: PASSWORD })).status).toBe(200);
      const nowMs = Date.now();
      await seedUsage(database, { accountId, rows: 8, fromMs: nowMs - 1000, toMs: nowMs });
      const uses = new KeyUses();
      uses.noteUse(hashSecret(String(secret)), nowMs, '203.0.113.7');
      await uses.write(kysely);
      const contents = new Contents(database, (_, error) => expect(error).toBeUndefined());
      contents.record({ requestId: 'req_late', accountId, request: {}, answer: 'private', days: 365 });
      await contents.close();
      const left = async () => ({
        users: await kysely
          .selectFrom('usage')
          .select('end_user')
          .where('account_id', '=', accountId)
          .where('end_user', 'is not', null)
          .execute(),
        contents: await kysely.selectFrom('request_contents').select('answer').where('account_id', '=', accountId).execute(),
        uses: await kysely
          .selectFrom('key_uses')
          .select('address_range')
          .where('secret_hash', '=', hashSecret(String(secret)))
          .execute(),
      });
      expect(await left()).toMatchObject({ users: expect.arrayContaining([expect.anything()]), contents: [{}], uses: [{}] });
      await deleteTraces(kysely, Date.now());
      expect(await left()).toEqual({ users: [], contents: [], uses: [] });
    });
  });
});
