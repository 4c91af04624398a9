import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { readAudit } from '../../src/accounts/audit.ts';
import { changesSince } from '../../src/accounts/changes.ts';
import { hashSecret } from '../../src/accounts/key-secret.ts';
import { KeyUses } from '../../src/accounts/key-uses.ts';
import { ANY_ACCOUNT } from '../../src/accounts/keys.ts';
import { connect } from '../../src/database/connect.ts';
import { asNanos } from '../../src/ledger/money.ts';
import { freshOf, Owner } from './owner.ts';
import { STORES, type OpenStore } from './stores.ts';

const HOUR_MS = 3_600_000;

for (const { name, isMissing, open } of STORES)
  describe.skipIf(isMissing)(name, () => {
    let store: OpenStore;
    let owner: Owner;
    beforeAll(async () => {
      store = await open();
    });
    beforeEach(async () => {
      owner = await Owner.at(store);
    });
    afterAll(() => store.close());

    describe('concurrent and repeated rotations', () => {
      test('leave exactly one secret without an expiry', async () => {
        const { id } = await owner.keys.create(owner.account.id, { name: 'a' });
        const results = await Promise.all(Array.from({ length: 8 }, () => owner.keys.rotate(owner.by(id), HOUR_MS)));
        expect(results.every((result) => typeof result !== 'string')).toBe(true);
        const [key] = await owner.keys.list(owner.account.id);
        expect(key?.secrets.filter((secret) => secret.expiresAtMs === undefined)).toHaveLength(1);
        expect(key?.secrets).toHaveLength(9);
      });

      test('are limited to ten valid secrets', async () => {
        const { id } = await owner.keys.create(owner.account.id, { name: 'a' });
        for (let count = 1; count < 10; count += 1) freshOf(await owner.keys.rotate(owner.by(id), HOUR_MS));
        expect(await owner.keys.rotate(owner.by(id), HOUR_MS)).toBe('too_many_secrets');
        expect((await owner.keys.find(owner.account.id, id))?.secrets).toHaveLength(10);
        freshOf(await owner.keys.rotate(owner.by(id), 0));
        expect((await owner.keys.find(owner.account.id, id))?.secrets).toHaveLength(1);
      });
    });

    describe('ending an overlap', () => {
      test('keeps only the newest secret', async () => {
        const { id, secret } = await owner.keys.create(owner.account.id, { name: 'a' });
        const second = await owner.rotate(id, HOUR_MS);
        expect((await owner.keys.find(owner.account.id, id))?.status).toBe('rotating');
        expect(await owner.keys.endOverlap(owner.by(id))).toBe(true);
        expect([await owner.isAlive(secret), await owner.isAlive(second)]).toEqual([false, true]);
        expect((await owner.keys.find(owner.account.id, id))?.status).toBe('active');
      });

      test('changes nothing for a key without an overlap', async () => {
        const { id, secret } = await owner.keys.create(owner.account.id, { name: 'a' });
        expect(await owner.keys.endOverlap(owner.by(id))).toBe(true);
        expect(await owner.isAlive(secret)).toBe(true);
      });
    });

    describe('an update', () => {
      test('keeps settings it does not name, and removes those set to null', async () => {
        const { id, secret } = await owner.keys.create(owner.account.id, { name: 'a', models: ['m'], requestsPerMinute: 5, tags: ['x'] });
        expect(await owner.keys.update(owner.by(id), { name: 'b', models: null, deniedModels: ['n'] })).toBe(true);
        const holder = await owner.holderOf(secret);
        expect(holder).toMatchObject({ name: 'b', deniedModels: ['n'], requestsPerMinute: 5, tags: ['x'] });
        expect(holder?.models).toBeUndefined();
      });

      test('disables a key and enables it again', async () => {
        const { id, secret } = await owner.keys.create(owner.account.id, { name: 'a' });
        await owner.keys.update(owner.by(id), { isDisabled: true });
        expect((await owner.holderOf(secret))?.isDisabled).toBe(true);
        expect((await owner.keys.find(owner.account.id, id))?.status).toBe('disabled');
        await owner.keys.update(owner.by(id), { isDisabled: false });
        expect((await owner.holderOf(secret))?.isDisabled).toBe(false);
      });

      test('sets and removes the budgets of several periods at once', async () => {
        const budgets = { day: asNanos(1n), week: asNanos(2n), month: asNanos(3n), total: asNanos(4n) };
        const { id } = await owner.keys.create(owner.account.id, { name: 'a', budgets });
        await owner.keys.update(owner.by(id), { budgets: { day: null, week: asNanos(7n) } });
        const found = await owner.keys.find(owner.account.id, id);
        expect(found?.budgets.map(({ period, amount }) => [period, amount])).toEqual([
          ['week', asNanos(7n)],
          ['month', asNanos(3n)],
          ['total', asNanos(4n)],
        ]);
        const [week, month, total] = found?.budgets ?? [];
        expect(week?.resetsAtMs).toBeWithin(Date.now(), Date.now() + 7 * 24 * HOUR_MS + 1);
        expect(new Date(month?.resetsAtMs ?? 0).getUTCDate()).toBe(1);
        expect(total?.resetsAtMs).toBeUndefined();
      });

      test('of the behaviour at the limit or the zone applies to every budget, and keeps what was spent', async () => {
        const { id } = await owner.keys.create(owner.account.id, { name: 'a', budgets: { day: asNanos(1000n), total: asNanos(1000n) } });
        await store.kysely.updateTable('key_budgets').set({ spent: 700n }).where('key_id', '=', id).execute();
        await owner.keys.update(owner.by(id), { atLimit: 'slow_down', limitZone: 'Asia/Kathmandu' });
        const [day, total] = (await owner.keys.find(owner.account.id, id))?.budgets ?? [];
        expect(day).toMatchObject({ spent: 700n, zone: 'Asia/Kathmandu' });
        expect(new Date(day?.resetsAtMs ?? 0).toISOString()).toEndWith('T18:15:00.000Z');
        expect(Number(day?.free)).toBeWithin(100, 301);
        expect(day?.pace?.perHour).toBe(asNanos(8n));
        expect([total?.free, total?.pace]).toEqual([asNanos(300n), undefined]);
        await owner.keys.update(owner.by(id), { atLimit: null, limitZone: null, budgets: { week: asNanos(5n) } });
        const budgets = (await owner.keys.find(owner.account.id, id))?.budgets ?? [];
        expect(budgets.map(({ zone, pace }) => [zone, pace])).toEqual([
          ['UTC', undefined],
          ['UTC', undefined],
          ['UTC', undefined],
        ]);
        const [last] = await readAudit(store.kysely, id, 1);
        expect(last?.changes).toContainEqual({ field: 'atLimit', before: 'slow_down', after: 'stop' });
        expect(last?.changes).toContainEqual({ field: 'limitZone', before: 'Asia/Kathmandu', after: 'UTC' });
      });

      test('of another account’s key is refused', async () => {
        const other = await Owner.at(store);
        const { id, secret } = await owner.keys.create(owner.account.id, { name: 'mine' });
        const stranger = other.by(id);
        expect(await owner.keys.update(stranger, { name: 'theirs', isDisabled: true })).toBe(false);
        expect(await owner.keys.rotate(stranger, 0)).toBe('no_such_key');
        expect([await owner.keys.endOverlap(stranger), await owner.keys.delete(stranger)]).toEqual([false, false]);
        expect(await owner.keys.find(other.account.id, id)).toBeUndefined();
        expect(await owner.holderOf(secret)).toMatchObject({ name: 'mine', isDisabled: false });
        expect(await owner.keys.update({ ...owner.by(id), accountId: ANY_ACCOUNT }, { name: 'by the operator' })).toBe(true);
      });
    });

    describe('the audit log of a key', () => {
      test('records who changed what, before and after, newest first', async () => {
        const { id, prefix, lastFour } = await owner.keys.create(
          owner.account.id,
          { name: 'a', requestsPerMinute: 5 },
          'maker@example.com',
        );
        await Bun.sleep(2);
        await owner.keys.update(owner.by(id), { name: 'b', requestsPerMinute: 5, budgets: { day: asNanos(2_500_000_000n) } });
        await Bun.sleep(2);
        await owner.keys.update(owner.by(id), { isDisabled: true });
        await Bun.sleep(2);
        await owner.keys.delete(owner.by(id));
        const entries = await readAudit(store.kysely, id, 10);
        expect(entries.map(({ actor, action }) => [actor, action])).toEqual([
          ['owner@example.com', 'key.delete'],
          ['owner@example.com', 'key.update'],
          ['owner@example.com', 'key.update'],
          ['maker@example.com', 'key.create'],
        ]);
        expect(entries[1]?.changes).toEqual([{ field: 'isDisabled', before: false, after: true }]);
        expect(entries[2]?.changes).toEqual([
          { field: 'name', before: 'a', after: 'b' },
          { field: 'budget.day', before: null, after: '2.5' },
        ]);
        expect(entries[3]?.changes).toContainEqual({ field: 'secret', before: null, after: `${prefix}…${lastFour}` });
      });

      test('has no entry for an update without changes', async () => {
        const { id } = await owner.keys.create(owner.account.id, { name: 'a' });
        await owner.keys.update(owner.by(id), { name: 'a', models: null });
        expect(await readAudit(store.kysely, id, 10)).toHaveLength(1);
      });

      test('contains no secret', async () => {
        const { id, secret } = await owner.keys.create(owner.account.id, { name: 'a' });
        const second = await owner.rotate(id, HOUR_MS);
        await owner.keys.endOverlap(owner.by(id));
        const log = JSON.stringify(await readAudit(store.kysely, id, 10));
        for (const each of [secret, second]) expect(log).not.toContain(each.slice(12, -6));
        expect(log).toContain(second.slice(-4));
      });
    });

    describe('the last use', () => {
      test('is recorded per secret, with a block of addresses instead of the address', async () => {
        const { id, secret } = await owner.keys.create(owner.account.id, { name: 'a' });
        const second = await owner.rotate(id, HOUR_MS);
        const uses = new KeyUses();
        uses.noteUse(hashSecret(secret), 1000, '203.0.113.77');
        uses.noteUse(hashSecret(second), 2000, '2001:db8:1:2::3');
        await uses.write(store.kysely);
        uses.noteUse(hashSecret(secret), 3000, '198.51.100.4');
        await uses.write(store.kysely);
        const secrets = (await owner.keys.find(owner.account.id, id))?.secrets ?? [];
        expect(secrets.map(({ usedAtMs, usedFrom }) => [usedAtMs, usedFrom])).toEqual([
          [2000, '2001:db8:1::/48'],
          [3000, '198.51.100.0/24'],
        ]);
      });

      test('is the later one of two servers, whichever writes first', async () => {
        const { id, secret } = await owner.keys.create(owner.account.id, { name: 'a' });
        const [first, second] = [new KeyUses(), new KeyUses()];
        first.noteUse(hashSecret(secret), 1000, '203.0.113.77');
        second.noteUse(hashSecret(secret), 2000, '198.51.100.4');
        await second.write(store.kysely);
        await first.write(store.kysely);
        expect((await owner.keys.find(owner.account.id, id))?.secrets[0]?.usedAtMs).toBe(2000);
      });

      test('does not invalidate the servers’ key caches', async () => {
        const { id, secret } = await owner.keys.create(owner.account.id, { name: 'a' });
        const before = await changesSince(store.kysely, undefined);
        const uses = new KeyUses();
        uses.noteUse(hashSecret(secret), Date.now(), '203.0.113.77');
        uses.noteRefusal(id, 'day', Date.now());
        await uses.write(store.kysely);
        expect(await changesSince(store.kysely, before?.counter)).toBeUndefined();
      });

      test('waits in bounded memory while it cannot be written', async () => {
        const { kysely: gone } = await connect(store);
        await gone.selectFrom('changes').selectAll().execute();
        await gone.destroy();
        const { id, secret } = await owner.keys.create(owner.account.id, { name: 'a' });
        const uses = new KeyUses();
        uses.noteUse(hashSecret(secret), 1000, '203.0.113.77');
        for (let count = 0; count < 20_000; count += 1) uses.noteUse(`${id} ${count}`, 1000, '203.0.113.77');
        let failure: unknown;
        await uses.write(gone).catch((error: unknown) => (failure = error));
        expect(failure).toBeInstanceOf(Error);
        await uses.write(store.kysely);
        expect((await owner.keys.find(owner.account.id, id))?.secrets[0]?.usedAtMs).toBe(1000);
        const { rows } = await store.kysely
          .selectFrom('key_uses')
          .select(({ fn }) => fn.countAll<bigint>().as('rows'))
          .where('secret_hash', 'like', `${id} %`)
          .executeTakeFirstOrThrow();
        expect(rows).toBe(9999n);
      });
    });

    describe('a budget that has refused a request', () => {
      test('sets the key’s status to limit reached, until the amount or the period changes', async () => {
        const { id } = await owner.keys.create(owner.account.id, { name: 'a', budgets: { day: asNanos(5n), total: asNanos(9n) } });
        const status = async (): Promise<string | undefined> => (await owner.keys.find(owner.account.id, id))?.status;
        expect(await status()).toBe('active');
        const uses = new KeyUses();
        uses.noteRefusal(id, 'day', Date.now() - 25 * HOUR_MS);
        await uses.write(store.kysely);
        expect(await status()).toBe('active');
        uses.noteRefusal(id, 'day', Date.now());
        await uses.write(store.kysely);
        expect(await status()).toBe('limit_reached');
        await owner.keys.update(owner.by(id), { budgets: { day: asNanos(6n) } });
        expect(await status()).toBe('active');
      });
    });
  });
