import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { deliverDue } from '../../src/alerts/deliver.ts';
import { saveWebhook } from '../../src/alerts/webhooks.ts';
import { watchAlerts } from '../../src/alerts/watch.ts';
import { channelsOf } from '../../src/dashboard/alert-clock.ts';
import { openMail, type Mail } from '../../src/dashboard/mail.ts';
import { postWebhook } from '../../src/http/post-webhook.ts';
import { STORES } from '../accounts/stores.ts';
import { insertPerson } from '../alerts/insert-person.ts';
import { serveHook, type Hook } from '../alerts/hook.ts';
import { reachLoopback } from '../http/media-server.ts';
import type { JsonObject } from '../simulator/wire.ts';
import { FrontDesk, type Visitor } from './front-desk.ts';
import { openMailbox, type Mailbox } from './mailbox.ts';

const RULE = { kind: 'low_balance', threshold: '5', byMail: true, byWebhook: false };

for (const { name: storeName, isMissing, open } of STORES)
  describe.skipIf(isMissing)(storeName, () => {
    let desk: FrontDesk;
    let mailbox: Mailbox;
    let hook: Hook;
    let mail: Mail;
    let me: Visitor;
    beforeAll(async () => {
      mailbox = await openMailbox();
      hook = await serveHook();
      mail = openMail({ smtpUrl: mailbox.url, mailFrom: 'gate@example.com' }, { fail: () => undefined, notice: () => undefined });
      desk = await FrontDesk.open(await open(), { mail });
    });
    beforeEach(async () => {
      me = await desk.person();
    });
    afterAll(async () => {
      await desk.store.close();
      await mailbox.close();
      hook.stop();
    });

    async function make(form: JsonObject = {}): Promise<string> {
      const { status, body } = await me.post('/alerts/rules', { ...RULE, ...form });
      expect(status).toBe(201);
      return String(body['id']);
    }

    /** Sets a webhook on this machine, whose port the API would refuse. Returns the secret. */
    async function setHook(url: string): Promise<string> {
      return (await saveWebhook(desk.store.kysely, me.owner.account.id, url)) ?? '';
    }

    describe('an alert', () => {
      test('saves the time zone that the page shows, for a person who has chosen none', async () => {
        await insertPerson(desk.store, { accountId: me.owner.account.id });
        const saved = () => desk.store.kysely.selectFrom('people').select('zone').where('account_id', '=', me.owner.account.id).execute();
        await make({ zone: 'US/Pacific' });
        expect(await saved()).toEqual([{ zone: 'America/Los_Angeles' }]);
        await make({ zone: 'Europe/Berlin' });
        await make({ zone: '+05:30' });
        expect(await saved()).toEqual([{ zone: 'America/Los_Angeles' }]);
      });

      test('is created, changed and deleted', async () => {
        const id = await make();
        expect((await me.get('/alerts')).body['rules']).toMatchObject([
          { id, kind: 'low_balance', unit: 'usd', threshold: '5', byMail: true },
        ]);
        const { body } = await me.patch(`/alerts/rules/${id}`, { threshold: '0.5', byMail: true, byWebhook: true });
        expect(body).toMatchObject({ threshold: '0.5', byWebhook: true });
        expect((await me.delete(`/alerts/rules/${id}`, {})).status).toBe(200);
        expect((await me.get('/alerts')).body['rules']).toEqual([]);
      });

      test.each<[string, JsonObject, string]>([
        ['without an amount', { threshold: '' }, 'threshold'],
        ['with an amount of zero', { threshold: '0' }, 'threshold'],
        ['with more than 100 percent', { kind: 'key_limit', threshold: '101' }, 'threshold'],
        ['with half a day', { kind: 'key_expiring', threshold: '0.5' }, 'threshold'],
        ['of an unknown kind', { kind: 'weather' }, 'kind'],
        ['without a channel', { byMail: false }, 'byMail'],
        ['with an unknown field', { phone: '123' }, ''],
      ])('%s is refused', async (_, form, field) => {
        const { status, body } = await me.post('/alerts/rules', { ...RULE, ...form });
        expect(status).toBe(400);
        expect(body['error']).toMatchObject({ code: 'invalid', field });
      });

      test.each([
        ['changed', (id: string, other: Visitor) => other.patch(`/alerts/rules/${id}`, { threshold: '1', byMail: true, byWebhook: false })],
        ['deleted', (id: string, other: Visitor) => other.delete(`/alerts/rules/${id}`, {})],
      ])('of another account cannot be %s', async (_, attempt) => {
        const id = await make();
        const other = await desk.person();
        expect((await attempt(id, other)).status).toBe(404);
        expect((await other.get('/alerts')).body['rules']).toEqual([]);
        expect((await me.get('/alerts')).body['rules']).toMatchObject([{ threshold: '5' }]);
      });
    });

    describe('a webhook', () => {
      test('shows its secret once, and a new one on request', async () => {
        const { body } = await me.put('/alerts/webhook', { url: 'https://hooks.example.com/' });
        expect(body['secret']).toStartWith('whsec_');
        expect((await me.put('/alerts/webhook', { url: 'https://hooks.example.com:443/other' })).body['secret']).toBeNull();
        const renewed = (await me.post('/alerts/webhook/secret')).body['secret'];
        expect(renewed).not.toBe(body['secret']);
        expect((await me.get('/alerts')).text).not.toContain('whsec_');
        await me.delete('/alerts/webhook', {});
        expect((await me.get('/alerts')).body['webhook']).toBeNull();
        expect((await me.post('/alerts/webhook/secret')).status).toBe(404);
      });

      test.each([
        ['http://example.com/', 'https://'],
        ['https://me:secret@example.com/', 'no password'],
        ['example.com', 'https://'],
        ['', 'https://'],
        ['https://example.com:8443/', 'port 443'],
        ['https://example.com:80/', 'port 443'],
        ['https://0x7f.1/', 'public internet'],
        ['https://[::ffff:10.0.0.1]/', 'public internet'],
      ])('at %p is refused', async (url, reason) => {
        const { status, body } = await me.put('/alerts/webhook', { url });
        expect([status, body['error']]).toEqual([400, expect.objectContaining({ field: 'url', message: expect.stringContaining(reason) })]);
      });

      test('receives a signed test, which appears in the deliveries', async () => {
        const secret = await setHook(hook.url);
        expect((await me.post('/alerts/test', { channel: 'webhook' })).body).toMatchObject({ status: 'sent', tries: 1, problem: null });
        expect(hook.verified(secret)).toMatchObject([{ type: 'alert', kind: 'test', account_id: me.owner.account.id }]);
        expect((await me.get('/alerts')).body['deliveries']).toMatchObject([{ kind: 'test', channel: 'webhook', status: 'sent' }]);
      });

      test('that answers with an error shows the problem and is retried later', async () => {
        await setHook(`${hook.url}broken`);
        const { body } = await me.post('/alerts/test', { channel: 'webhook' });
        expect(body).toMatchObject({ status: 'waiting', tries: 1, problem: 'The answer had status 500.' });
      });
    });

    test('a test email reaches the address of the account', async () => {
      expect((await me.post('/alerts/test', { channel: 'mail' })).body).toMatchObject({ status: 'sent' });
      expect(await mailbox.next(me.owner.account.email)).toContain('This is how alerts reach you.');
    });

    test('five tests are allowed, then refused', async () => {
      for (let count = 0; count < 5; count += 1) expect((await me.post('/alerts/test', { channel: 'mail' })).status).toBe(200);
      expect((await me.post('/alerts/test', { channel: 'mail' })).status).toBe(429);
    });

    test('five tests are allowed even if many are requested at once', async () => {
      const asked = Array.from({ length: 20 }, () => me.post('/alerts/test', { channel: 'mail' }));
      const statuses = (await Promise.all(asked)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(5);
      expect(statuses.filter((status) => status === 429)).toHaveLength(15);
    });

    test('an alert that fires is sent once by email and webhook', async () => {
      const secret = await setHook(hook.url);
      await make({ byWebhook: true });
      expect((await me.get('/alerts')).body['rules']).toMatchObject([{ firedAtMs: null }]);
      for (let turn = 0; turn < 3; turn += 1) await watchAlerts(desk.store.kysely, Date.now(), (error) => expect(error).toBeUndefined());
      const channels = channelsOf({
        mail,
        settings: { publicUrl: 'https://gate.example.com' },
        ask: async (question) => (question.type === 'webhook' ? postWebhook(question.posting, reachLoopback()) : undefined),
        fail: (event, error) => expect([event, error]).toBeUndefined(),
      });
      for (const channel of ['mail', 'webhook'] as const) await deliverDue(desk.store.kysely, channels, channel);
      expect(await mailbox.next(me.owner.account.email)).toContain('The balance is $0.00');
      expect(hook.verified(secret)).toMatchObject([{ kind: 'low_balance', title: 'The balance is $0.00' }]);
      expect((await me.get('/alerts')).body['rules']).toMatchObject([{ firedAtMs: expect.any(Number) }]);
    });
  });
