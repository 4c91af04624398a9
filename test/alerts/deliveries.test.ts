import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import { deliverDue, type AlertChannels } from '../../src/alerts/deliver.ts';
import { addDeliveries, listDeliveries, TRIES_MAX } from '../../src/alerts/deliveries.ts';
import { renewSecret, saveWebhook, type WebhookRequest } from '../../src/alerts/webhooks.ts';
import { Owner } from '../accounts/owner.ts';
import { STORES, type OpenStore } from '../accounts/stores.ts';
import { until } from '../until.ts';

const MESSAGE = { kind: 'test', title: 'Hello', text: 'It works.' } as const;

for (const { name: storeName, isMissing, open } of STORES)
  describe.skipIf(isMissing)(`a delivery on ${storeName}`, () => {
    let store: OpenStore;
    let owner: Owner;
    beforeAll(async () => {
      store = await open();
    });
    beforeEach(async () => {
      await store.kysely.deleteFrom('alert_deliveries').execute();
      owner = await Owner.at(store);
    });
    afterAll(() => store.close());

    const sent: WebhookRequest[] = [];
    const mails: string[] = [];
    const failures: unknown[] = [];
    let answers: (string | undefined)[] = [];
    const channels: AlertChannels = {
      mail: async (to, { title }) => {
        mails.push(`${to}: ${title}`);
        return answers.shift();
      },
      post: async (request) => {
        sent.push(request);
        return answers.shift();
      },
      fail: (error) => failures.push(error),
    };
    const deliverAll = async (through: AlertChannels): Promise<void> => {
      for (const channel of ['mail', 'webhook'] as const) await deliverDue(store.kysely, through, channel);
    };
    beforeEach(() => {
      failures.length = 0;
      sent.length = 0;
      mails.length = 0;
      answers = [];
    });

    test('by email goes to the address of the account', async () => {
      await addDeliveries(store.kysely, { accountId: owner.account.id, ...MESSAGE }, ['mail']);
      await deliverAll(channels);
      await deliverAll(channels);
      expect(mails).toEqual([`${owner.account.email}: Hello`]);
      expect(await listDeliveries(store.kysely, owner.account.id, 10)).toMatchObject([{ status: 'sent', tries: 1 }]);
    });

    test('is not delayed by another account with many deliveries', async () => {
      const other = await Owner.at(store);
      for (let n = 0; n < 60; n += 1) await addDeliveries(store.kysely, { accountId: owner.account.id, ...MESSAGE }, ['mail']);
      await addDeliveries(store.kysely, { accountId: other.account.id, ...MESSAGE }, ['mail']);
      await deliverAll(channels);
      expect(mails).toHaveLength(50);
      expect(mails).toContain(`${other.account.email}: Hello`);
      await deliverAll(channels);
      expect(mails).toHaveLength(61);
    });

    test('by email is claimed only when it is sent, and a slow mail server delays no webhook', async () => {
      const accepted = Promise.withResolvers<void>();
      for (let n = 0; n < 10; n += 1) await addDeliveries(store.kysely, { accountId: owner.account.id, ...MESSAGE }, ['mail', 'webhook']);
      await saveWebhook(store.kysely, owner.account.id, 'https://hook.example.com');
      let begun = 0;
      const mail = async (): Promise<undefined> => {
        begun += 1;
        await accepted.promise;
      };
      const mailing = deliverDue(store.kysely, { ...channels, mail }, 'mail');
      await deliverDue(store.kysely, channels, 'webhook');
      expect(sent).toHaveLength(10);
      await until(() => begun === 2);
      const waiting = (await listDeliveries(store.kysely, owner.account.id, 50)).filter(({ status }) => status === 'waiting');
      expect(waiting.filter(({ tries }) => tries > 0)).toHaveLength(2);
      accepted.resolve();
      await mailing;
      const states = await listDeliveries(store.kysely, owner.account.id, 50);
      expect(states.filter(({ status, tries }) => status === 'sent' && tries === 1)).toHaveLength(20);
    });

    test('above the daily limit is listed but not sent', async () => {
      const message = { accountId: owner.account.id, ...MESSAGE };
      for (let n = 0; n < 200; n += 1) await addDeliveries(store.kysely, message, ['mail']);
      await addDeliveries(store.kysely, message, ['mail', 'webhook']);
      const deliveries = await listDeliveries(store.kysely, owner.account.id, 300);
      expect(deliveries.filter(({ status }) => status === 'failed')).toMatchObject([
        { channel: 'mail', tries: 0, problem: 'Not sent: the limit of 200 messages in 24 hours was reached.' },
      ]);
      expect(deliveries.filter(({ status }) => status === 'waiting')).toHaveLength(201);
      for (let turn = 0; turn < 6; turn += 1) await deliverAll(channels);
      expect(mails).toHaveLength(200);
      await store.kysely
        .updateTable('alert_deliveries')
        .set({ created_at: Date.now() - 24 * 3_600_000 - 1 })
        .execute();
      await addDeliveries(store.kysely, message, ['mail']);
      await deliverAll(channels);
      expect(mails).toHaveLength(201);
    });

    test("by webhook is signed with the account's secret and the time", async () => {
      const secret = (await saveWebhook(store.kysely, owner.account.id, 'https://hooks.example.com/x')) ?? '';
      await addDeliveries(store.kysely, { accountId: owner.account.id, ...MESSAGE }, ['webhook']);
      await deliverAll(channels);
      const [request] = sent;
      const [, seconds = '', signature] = /^t=(\d+),v1=([0-9a-f]{64})$/u.exec(request?.headers['tollgate-signature'] ?? '') ?? [];
      expect(createHmac('sha256', secret).update(`${seconds}.${request?.body}`).digest('hex')).toBe(signature ?? '');
      expect(Number(seconds) * 1000).toBeWithin(Date.now() - 10_000, Date.now() + 1);
      expect(JSON.parse(request?.body ?? '')).toMatchObject({
        type: 'alert',
        kind: 'test',
        title: 'Hello',
        account_id: owner.account.id,
      });
      expect(request?.body).not.toContain(secret);
    });

    test('that fails is retried after longer and longer waits, then abandoned', async () => {
      await saveWebhook(store.kysely, owner.account.id, 'https://hooks.example.com/x');
      await addDeliveries(store.kysely, { accountId: owner.account.id, ...MESSAGE }, ['webhook']);
      const waits: number[] = [];
      for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
        answers = ['The answer had status 500.'];
        await deliverAll(channels);
        const [delivery] = await listDeliveries(store.kysely, owner.account.id, 1);
        expect(delivery).toMatchObject({
          tries,
          problem: 'The answer had status 500.',
          status: tries === TRIES_MAX ? 'failed' : 'waiting',
        });
        waits.push(Math.round(((delivery?.nextTryAtMs ?? 0) - Date.now()) / 60_000));
        await deliverAll(channels);
        await store.kysely.updateTable('alert_deliveries').set({ next_try_at: 0 }).execute();
      }
      expect(waits.slice(0, -1)).toEqual([1, 5, 30, 120, 360]);
      await deliverAll(channels);
      expect(sent).toHaveLength(TRIES_MAX);
    });

    test('that cannot be sent shows a generic problem to the owner and the cause to the operator only', async () => {
      await saveWebhook(store.kysely, owner.account.id, 'https://hooks.example.com/x');
      await addDeliveries(store.kysely, { accountId: owner.account.id, ...MESSAGE }, ['mail', 'webhook']);
      const cause = new Error('Invalid login: 535 5.7.8 authentication failed for svc@internal.example.com');
      const refuse = (): Promise<never> => Promise.reject(cause);
      await deliverAll({ ...channels, mail: refuse, post: refuse });
      const problems = (await listDeliveries(store.kysely, owner.account.id, 10)).map(({ channel, problem }) => [channel, problem]);
      expect(Object.fromEntries(problems)).toEqual({ mail: 'The email could not be sent.', webhook: 'The address did not respond.' });
      expect(failures).toEqual([cause, cause]);
    });

    test('is sent by one server, however many try', async () => {
      await addDeliveries(store.kysely, { accountId: owner.account.id, ...MESSAGE }, ['mail']);
      await Promise.all(Array.from({ length: 6 }, () => deliverAll(channels)));
      expect(mails).toHaveLength(1);
    });

    test('without a webhook is not sent, and says so', async () => {
      await addDeliveries(store.kysely, { accountId: owner.account.id, ...MESSAGE }, ['webhook']);
      await deliverAll(channels);
      expect(await listDeliveries(store.kysely, owner.account.id, 10)).toMatchObject([
        { status: 'waiting', problem: 'The webhook no longer exists.' },
      ]);
    });

    test('to a changed webhook address keeps its secret until that is renewed', async () => {
      expect(await saveWebhook(store.kysely, owner.account.id, 'https://hooks.example.com/x')).toStartWith('whsec_');
      expect(await saveWebhook(store.kysely, owner.account.id, 'https://hooks.example.com/y')).toBeUndefined();
      expect(await renewSecret(store.kysely, owner.account.id)).toStartWith('whsec_');
      expect(await renewSecret(store.kysely, 'acct_nobody')).toBeUndefined();
    });
  });
