import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { Plans, type Plan } from '../../src/accounts/plans.ts';
import { Subscriptions } from '../../src/accounts/subscriptions.ts';
import { NO_MONEY } from '../../src/ledger/money.ts';
import { STORES } from '../accounts/stores.ts';
import type { JsonObject } from '../simulator/wire.ts';
import { FrontDesk, type Visitor } from './front-desk.ts';

const DAY_MS = 86_400_000;
const PLAN: Plan = {
  id: 'wide',
  name: 'Wide',
  price: NO_MONEY,
  interval: 'month',
  included: NO_MONEY,
  isOffered: false,
  useFirst: 'plan',
  overflow: 'balance',
};

for (const { name: storeName, isMissing, open } of STORES)
  describe.skipIf(isMissing)(storeName, () => {
    let desk: FrontDesk;
    let me: Visitor;
    beforeAll(async () => {
      desk = await FrontDesk.open(await open());
    });
    beforeEach(async () => {
      me = await desk.person();
    });
    afterAll(() => desk.store.close());

    async function make(form: JsonObject = {}): Promise<{ id: string; secret: string }> {
      const { status, body } = await me.post('/keys', { name: 'mine', ...form });
      expect(status).toBe(201);
      return { id: String(body['id']), secret: String(body['secret']) };
    }

    async function show(id: string): Promise<JsonObject> {
      return (await me.get(`/keys/${id}`)).body['key'] as JsonObject;
    }

    describe('a key', () => {
      test('is created with all settings at once, and its secret is shown only then', async () => {
        const expiresAtMs = Date.now() + DAY_MS;
        const { id, secret } = await make({
          name: '  ci  ',
          expiresAtMs,
          budgets: { day: '1', week: '2.50', month: '3', total: '4' },
          requestsPerMinute: 5,
          tokensPerMinute: 6,
          concurrent: 7,
          models: ['a/one', 'a/one'],
          deniedModels: ['b/three'],
          addresses: ['10.1.2.3/8', '2001:DB8::1'],
          tags: ['team=blue', 'nightly'],
        });
        expect(await me.owner.isAlive(secret)).toBe(true);
        const key = await show(id);
        expect(key).toMatchObject({
          name: 'ci',
          status: 'active',
          expiresAtMs,
          models: ['a/one'],
          deniedModels: ['b/three'],
          addresses: ['10.0.0.0/8', '2001:db8::1'],
          tags: ['team=blue', 'nightly'],
          requestsPerMinute: 5,
          tokensPerMinute: 6,
          concurrent: 7,
          spentTotalUsd: '0',
        });
        expect((key['budgets'] as JsonObject[]).map(({ period, usd }) => [period, usd])).toEqual([
          ['day', '1'],
          ['week', '2.5'],
          ['month', '3'],
          ['total', '4'],
        ]);
        const everything = [(await me.get('/keys')).text, (await me.get(`/keys/${id}`)).text, (await me.get('/keys/csv')).text].join('');
        expect(everything).not.toContain(secret.slice(12, -6));
        expect(everything).toContain(secret.slice(-4));
      });

      test('requires only a name', async () => {
        const { id } = await make();
        expect(await show(id)).toMatchObject({ models: null, deniedModels: [], addresses: [], tags: [], expiresAtMs: null, budgets: [] });
      });

      test.each<[string, JsonObject, string]>([
        ['without a name', { name: ' ' }, 'name'],
        ['with a name that is too long', { name: 'x'.repeat(101) }, 'name'],
        ['with an unknown field', { budget: '5' }, ''],
        ['with an unknown period', { budgets: { year: '1' } }, 'budgets'],
        ['with an invalid amount', { budgets: { day: '1e3' } }, 'budgets.day'],
        ['with a negative amount', { budgets: { day: '-1' } }, 'budgets.day'],
        ['with an expiry in the past', { expiresAtMs: Date.now() - 1 }, 'expiresAtMs'],
        ['with half a request a minute', { requestsPerMinute: 0.5 }, 'requestsPerMinute'],
        ['with no concurrent requests', { concurrent: 0 }, 'concurrent'],
        ['with more requests a minute than the default', { requestsPerMinute: 601 }, 'requestsPerMinute'],
        ['with more concurrent requests than the default', { concurrent: 65 }, 'concurrent'],
        ['with an unknown model', { models: ['a/nine'] }, 'models'],
        ['that denies an unknown model', { deniedModels: ['a/nine'] }, 'models'],
        ['with a name instead of an IP address', { addresses: ['office'] }, 'addresses.0'],
        ['with too many addresses', { addresses: Array.from({ length: 101 }, (_, index) => `10.0.0.${index}`) }, 'addresses'],
        ['with invalid characters in a tag', { tags: ['<b>'] }, 'tags.0'],
        ['with too many tags', { tags: Array.from({ length: 21 }, (_, index) => `t${index}`) }, 'tags'],
      ])('%s is refused, and the field is named', async (_, form, field) => {
        const { status, body } = await me.post('/keys', { name: 'mine', ...form });
        expect(status).toBe(400);
        expect(body['error']).toMatchObject({ code: 'invalid', field });
        expect((await me.get('/keys')).body['keys']).toEqual([]);
      });
    });

    describe('a limit above the default', () => {
      test('that the operator has set stays through other changes, but its key cannot get more', async () => {
        const { id } = await make({ requestsPerMinute: 600 });
        await me.owner.keys.update(me.owner.by(id), { requestsPerMinute: 900 });
        expect((await me.patch(`/keys/${id}`, { name: 'new', requestsPerMinute: 900 })).status).toBe(200);
        const { status, body } = await me.patch(`/keys/${id}`, { requestsPerMinute: 901 });
        expect(status).toBe(400);
        expect(body['error']).toMatchObject({
          field: 'requestsPerMinute',
          message: 'requestsPerMinute: can be at most 600; only the operator can set more',
        });
      });

      test('can be as high as that of the plan, and is refused above it', async () => {
        const { kysely } = desk.store;
        await new Plans(kysely).save({ ...PLAN, concurrent: 100, tokensPerMinute: 10 }, 'command');
        await new Subscriptions(kysely).assign(me.owner.account.id, PLAN.id, { nowMs: Date.now() });
        const { id } = await make({ concurrent: 100 });
        expect((await me.patch(`/keys/${id}`, { concurrent: 101 })).status).toBe(400);
        expect((await me.patch(`/keys/${id}`, { tokensPerMinute: 11 })).status).toBe(400);
      });
    });

    describe('a change', () => {
      test('of some settings keeps the others, and null removes one', async () => {
        const { id } = await make({ models: ['a/one'], requestsPerMinute: 5, budgets: { day: '1', month: '2' } });
        const { status, body } = await me.patch(`/keys/${id}`, {
          name: 'new',
          models: null,
          addresses: ['10.0.0.1'],
          budgets: { day: null },
        });
        expect(status).toBe(200);
        expect(body).toMatchObject({ name: 'new', models: null, addresses: ['10.0.0.1'], requestsPerMinute: 5 });
        expect((body['budgets'] as JsonObject[]).map(({ period }) => period)).toEqual(['month']);
      });

      test('disables and enables, and records who did it', async () => {
        const { id } = await make();
        expect((await me.patch(`/keys/${id}`, { isDisabled: true })).body['status']).toBe('disabled');
        expect((await me.patch(`/keys/${id}`, { isDisabled: false })).body['status']).toBe('active');
        const audit = (await me.get(`/keys/${id}`)).body['audit'] as JsonObject[];
        expect(audit.map(({ actor, action }) => [actor, action])).toEqual([
          ['me@example.com', 'key.update'],
          ['me@example.com', 'key.update'],
          ['me@example.com', 'key.create'],
        ]);
        expect(audit[0]?.['changes']).toEqual([{ field: 'isDisabled', before: true, after: false }]);
      });

      test('keeps a model that the gate no longer has, but does not add one', async () => {
        const { id } = await me.owner.keys.create(me.owner.account.id, { name: 'old', models: ['gone/model'] });
        expect((await me.patch(`/keys/${id}`, { models: ['gone/model', 'a/one'] })).status).toBe(200);
        expect((await me.patch(`/keys/${id}`, { models: ['other/model'] })).status).toBe(400);
      });

      test('of several keys at once affects only keys of the account', async () => {
        const [first, second] = [await make(), await make()];
        const other = await (await desk.person()).owner;
        const theirs = await other.keys.create(other.account.id, { name: 'theirs' });
        const ids = [first.id, second.id, theirs.id, 'key_unknown'];
        expect((await me.post('/keys/bulk', { action: 'disable', ids })).body).toEqual({ changed: 2 });
        expect([(await show(first.id))['status'], (await show(second.id))['status']]).toEqual(['disabled', 'disabled']);
        expect((await me.post('/keys/bulk', { action: 'delete', ids })).body).toEqual({ changed: 2 });
        expect((await me.get('/keys')).body['keys']).toEqual([]);
        expect(await other.isAlive(theirs.secret)).toBe(true);
      });
    });

    describe('a rotation', () => {
      test('creates a new secret, and the old one works until the overlap ends', async () => {
        const { id, secret } = await make();
        const { status, body } = await me.post(`/keys/${id}/rotate`, { overlapMs: 3_600_000 });
        expect(status).toBe(201);
        expect([await me.owner.isAlive(secret), await me.owner.isAlive(String(body['secret']))]).toEqual([true, true]);
        const key = await show(id);
        expect(key['status']).toBe('rotating');
        expect(key['rotatingUntilMs']).toBeWithin(Date.now() + 3_500_000, Date.now() + 3_600_001);
        expect((await me.post(`/keys/${id}/end-overlap`)).body['status']).toBe('active');
        expect([await me.owner.isAlive(secret), await me.owner.isAlive(String(body['secret']))]).toEqual([false, true]);
      });

      test.each([-1, 0.5, 91 * DAY_MS, '1h'])('with an overlap of %p is refused', async (overlapMs) => {
        const { id } = await make();
        expect((await me.post(`/keys/${id}/rotate`, { overlapMs })).status).toBe(400);
      });
    });

    test('a new secret comes with a model that it may call, for the code shown beside it', async () => {
      const rules = { name: 'narrow', models: ['a/*', 'b/three'], deniedModels: ['a/one'] };
      const { body } = await me.post('/keys', rules);
      expect(body['model']).toBe('a/two');
      expect((await me.post(`/keys/${String(body['id'])}/rotate`, { overlapMs: 0 })).body['model']).toBe('a/two');
      expect((await me.post('/keys', { ...rules, models: ['a/one'] })).body['model']).toBeNull();
    });

    describe('a test call', () => {
      test('gets a secret for a minute and the cheapest allowed model, and does not count as a rotation', async () => {
        const { id, secret } = await make({ models: ['a/*', 'b/three'], deniedModels: ['a/one'] });
        const { status, body } = await me.post(`/keys/${id}/trial`);
        expect([status, body['model']]).toEqual([201, 'a/two']);
        const holder = await me.owner.holderOf(String(body['secret']));
        expect(holder).toMatchObject({ keyId: id, models: ['a/*', 'b/three'] });
        expect(holder?.expiresAtMs).toBeWithin(Date.now() + 50_000, Date.now() + 60_001);
        const key = await show(id);
        expect([key['status'], (key['secrets'] as unknown[]).length]).toEqual(['active', 1]);
        expect((await me.get(`/keys/${id}`)).body['audit']).toMatchObject([{ action: 'key.try', changes: [] }, { action: 'key.create' }]);
        await me.post(`/keys/${id}/rotate`, { overlapMs: 0 });
        expect([await me.owner.isAlive(secret), await me.owner.isAlive(String(body['secret']))]).toEqual([false, false]);
      });

      test('is allowed five times a minute', async () => {
        const { id } = await make();
        const statuses = [];
        for (let count = 0; count < 6; count += 1) statuses.push((await me.post(`/keys/${id}/trial`)).status);
        expect(statuses).toEqual([201, 201, 201, 201, 201, 429]);
      });

      test('of a key that may not call any model is refused', async () => {
        const { id } = await make({ models: ['a/one'], deniedModels: ['a/*'] });
        expect((await me.post(`/keys/${id}/trial`)).status).toBe(409);
      });
    });

    test('a provider wildcard allows all its models, and an unknown provider is refused', async () => {
      expect((await me.post('/keys', { name: 'all of a', models: ['a/*'] })).status).toBe(201);
      for (const rule of ['c/*', 'a/', '*', '/*', 'a/o*']) expect((await me.post('/keys', { name: 'x', models: [rule] })).status).toBe(400);
    });

    test('the playground key is marked and cannot be rotated', async () => {
      await make({ name: 'mine' });
      const { keyId } = (await me.post('/playground/key')).body;
      const keys = (await me.get('/keys')).body['keys'] as JsonObject[];
      expect(keys.map(({ name, isPlayground }) => [name, isPlayground])).toEqual([
        ['mine', false],
        ['Playground', true],
      ]);
      expect((await me.post(`/keys/${String(keyId)}/rotate`, { overlapMs: 0 })).status).toBe(409);
    });

    describe('a deletion', () => {
      test('requires the name of the key', async () => {
        const { id, secret } = await make({ name: 'production' });
        expect((await me.delete(`/keys/${id}`, { name: 'prod' })).status).toBe(400);
        expect(await me.owner.isAlive(secret)).toBe(true);
        expect((await me.delete(`/keys/${id}`, { name: 'production' })).status).toBe(200);
        expect(await me.owner.isAlive(secret)).toBe(false);
        expect((await me.get(`/keys/${id}`)).status).toBe(404);
      });
    });

    describe('the live figures', () => {
      test('come from the gate, with the limits of the key', async () => {
        const { id } = await make({ requestsPerMinute: 5, concurrent: 2 });
        const limits = { requestsPerMinute: 5, tokensPerMinute: 1_000_000, concurrent: 2 };
        await desk.limits.admit(id, limits, 1000);
        const { body } = await me.get(`/keys/${id}/live`);
        expect(body['use']).toMatchObject({ limits, remainingRequests: 4, open: 1 });
      });
    });

    test('the CSV list escapes key names that are spreadsheet formulas', async () => {
      await make({ name: '=HYPERLINK("https://evil.example")' });
      await make({ name: '＝1＋1' });
      const { text } = await me.get('/keys/csv');
      const [head, row] = text.split('\r\n');
      expect(head).toStartWith('id,name,kind,secrets,status,');
      expect(row).toContain(`"'=HYPERLINK(""https://evil.example"")"`);
      expect(text).toContain(`,'＝1＋1,`);
    });

    test('the CSV list has its times in the zone of the reader, as other files do', async () => {
      await make({ name: 'timed', expiresAtMs: Date.UTC(2099, 0, 1) });
      const { text } = await me.get('/keys/csv?zone=Asia/Kathmandu');
      const [head, ...rows] = text.split('\r\n');
      expect(head).toEndWith(',last_used_at,created_at,expires_at,zone');
      expect(rows.find((row) => row.includes(',timed,'))).toMatch(
        /,,\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+05:45,2099-01-01T05:45:00\+05:45,Asia\/Kathmandu$/u,
      );
    });

    test('the form options contain the models and the default limits', async () => {
      const { body } = await me.get('/keys/options');
      expect(body['limits']).toEqual({ requestsPerMinute: 600, tokensPerMinute: 1_000_000, concurrent: 64 });
      expect((body['models'] as JsonObject[]).map(({ id, provider }) => [id, provider])).toContainEqual(['b/three', 'b']);
    });

    describe('a key of another account', () => {
      test.each<[string, (id: string) => Promise<{ status: number }>]>([
        ['shown', (id) => me.get(`/keys/${id}`)],
        ['watched', (id) => me.get(`/keys/${id}/live`)],
        ['changed', (id) => me.patch(`/keys/${id}`, { name: 'x' })],
        ['rotated', (id) => me.post(`/keys/${id}/rotate`, { overlapMs: 0 })],
        ['taken out of its overlap', (id) => me.post(`/keys/${id}/end-overlap`)],
        ['deleted', (id) => me.delete(`/keys/${id}`, { name: 'theirs' })],
      ])('cannot be %s', async (_, attempt) => {
        const { owner } = await desk.person();
        const { id, secret } = await owner.keys.create(owner.account.id, { name: 'theirs' });
        expect((await attempt(id)).status).toBe(404);
        expect((await attempt('key_unknown')).status).toBe(404);
        expect(await owner.holderOf(secret)).toMatchObject({ name: 'theirs' });
      });

      test('is not in the list', async () => {
        const { owner } = await desk.person();
        await owner.keys.create(owner.account.id, { name: 'theirs' });
        expect((await me.get('/keys')).body['keys']).toEqual([]);
        expect((await me.get('/keys/csv')).text).not.toContain('theirs');
      });
    });

    test.each(['/keys', '/keys/csv', '/keys/options', '/keys/key_unknown'])('%s requires a session', async (path) => {
      expect((await desk.stranger('GET', path)).status).toBe(401);
    });
  });
