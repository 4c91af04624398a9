import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { changesSince } from '../../src/accounts/changes.ts';
import { hashSecret } from '../../src/accounts/key-secret.ts';
import { KeyUses } from '../../src/accounts/key-uses.ts';
import { Keys } from '../../src/accounts/keys.ts';
import { Plans, type Plan } from '../../src/accounts/plans.ts';
import { connect } from '../../src/database/connect.ts';
import { KeyCache } from '../../src/gateway/key-cache.ts';
import { asNanos } from '../../src/ledger/money.ts';
import { setContentDays } from '../../src/usage/contents.ts';
import { Owner } from './owner.ts';
import { STORES, type OpenStore } from './stores.ts';

const PLAN: Plan = {
  id: 'plan',
  name: 'Plan',
  price: asNanos(0n),
  included: asNanos(0n),
  isOffered: true,
  interval: 'month',
  useFirst: 'plan',
  overflow: 'balance',
};
const PERIOD = { anchor: 0, turn: 0, period_start: 0, period_end: 1, ends_with_period: 0 };
const SUBSCRIPTION = { ...PERIOD, plan_id: PLAN.id, status: 'active', pays_by: 'nobody', reason: '', created_at: 0 } as const;

for (const { name, isMissing, open } of STORES)
  describe.skipIf(isMissing)(name, () => {
    let store: OpenStore;
    let owner: Owner;
    let keyId: string;
    let secret: string;
    beforeAll(async () => {
      store = await open();
      await new Plans(store.kysely).save(PLAN, 'command');
    });
    beforeEach(async () => {
      owner = await Owner.at(store);
      ({ id: keyId, secret } = await owner.keys.create(owner.account.id, { name: 'a' }));
    });
    afterAll(() => store.close());

    async function counterNow(): Promise<bigint | undefined> {
      return (await changesSince(store.kysely, undefined))?.counter;
    }

    async function changedBy(change: () => Promise<unknown>): Promise<readonly string[] | 'nothing' | 'any'> {
      const before = await counterNow();
      await change();
      const changes = await changesSince(store.kysely, before);
      return changes === undefined ? 'nothing' : (changes.accountIds ?? 'any');
    }

    const subscribe = (): Promise<unknown> =>
      store.kysely
        .insertInto('subscriptions')
        .values({ ...SUBSCRIPTION, id: `sub_${owner.account.id}`, account_id: owner.account.id })
        .execute();

    describe('servers hear whose account has changed', () => {
      test.each<[string, () => Promise<unknown>]>([
        ['the account is suspended', () => owner.accounts.setStatus(owner.account, 'suspended')],
        ['a key is created', () => owner.keys.create(owner.account.id, { name: 'b' })],
        ['a key is rotated', () => owner.keys.rotate(owner.by(keyId), 0)],
        ['a key is deleted', () => owner.keys.delete(owner.by(keyId))],
        ['a key is disabled', () => owner.keys.update(owner.by(keyId), { isDisabled: true })],
        ['the addresses of a key change', () => owner.keys.update(owner.by(keyId), { addresses: ['10.0.0.0/8'] })],
        ['an overlap is ended', () => owner.keys.endOverlap(owner.by(keyId))],
        ['a secret is removed', () => store.kysely.deleteFrom('key_secrets').where('key_id', '=', keyId).execute()],
        ['a plan is subscribed to', subscribe],
        ['requests are recorded', () => setContentDays(store.kysely, owner.account.id, 7)],
      ])('when %s', async (_, change) => {
        expect(await changedBy(change)).toEqual([owner.account.id]);
      });

      test('when it was changed by another process', async () => {
        const { kysely: elsewhere } = await connect(store);
        expect(await changedBy(() => new Keys(elsewhere).delete(owner.by(keyId)))).toEqual([owner.account.id]);
        await elsewhere.destroy();
      });

      test('when several have changed, once each', async () => {
        const other = await Owner.at(store);
        const changed = await changedBy(async () => {
          for (const one of [other, owner, other]) await one.keys.create(one.account.id, { name: 'b' });
        });
        expect(changed).toEqual([owner.account.id, other.account.id]);
      });
    });

    describe('servers hear that any account may have changed', () => {
      test('when a plan changes, because it limits the keys of all its subscribers', async () => {
        expect(await changedBy(() => new Plans(store.kysely).save({ ...PLAN, concurrent: 7 }, 'command'))).toBe('any');
      });

      test('when a thousand have changed', async () => {
        const row = { status: 'active', is_admin: 0, created_at: 0 } as const;
        const rows = Array.from({ length: 1000 }, (_, index) => ({ ...row, id: `acct_${index}`, email: `${index}@example.com` }));
        expect(await changedBy(() => store.kysely.insertInto('accounts').values(rows).execute())).toBe('any');
      });

      test('when the database is an older one', async () => {
        const changes = await changesSince(store.kysely, ((await counterNow()) ?? 0n) + 5n);
        expect(changes).toEqual({ counter: (await counterNow()) ?? 0n, accountIds: undefined });
      });
    });

    describe('servers hear nothing', () => {
      test('of credit, since no server caches a balance', async () => {
        const why = { reason: 'test', actor: 'test' };
        expect(await changedBy(() => owner.accounts.credit(owner.account, asNanos(5n), why))).toBe('nothing');
        expect(await changedBy(() => owner.accounts.credit(owner.account, asNanos(-5n), why))).toBe('nothing');
      });

      test('of reads and repeated changes', async () => {
        await owner.keys.delete(owner.by(keyId));
        const readAndRepeat = async (): Promise<void> => {
          await owner.holderOf(secret);
          await owner.keys.list(owner.account.id);
          await owner.accounts.find(owner.account.email);
          await owner.accounts.create(owner.account.email, true);
          await owner.keys.delete(owner.by(keyId));
        };
        expect(await changedBy(readAndRepeat)).toBe('nothing');
      });
    });

    describe('the cache of keys', () => {
      let cache: KeyCache;
      beforeEach(() => {
        cache = new KeyCache(new Keys(store.kysely), new KeyUses());
      });

      /** True if it does not have to ask the database. */
      async function isCached(one: string): Promise<boolean> {
        const found = cache.find(one);
        await found;
        return !(found instanceof Promise);
      }

      test('forgets the accounts that have changed, and keeps the others', async () => {
        const other = await Owner.at(store);
        const { secret: kept } = await other.keys.create(other.account.id, { name: 'a' });
        const { secret: second } = await owner.keys.create(owner.account.id, { name: 'b' });
        for (const each of [secret, second, kept]) expect(await cache.find(each)).toBeDefined();
        for (const each of [secret, second, kept]) expect(await isCached(each)).toBe(true);
        await owner.keys.delete(owner.by(keyId));
        cache.forget([owner.account.id]);
        expect([await isCached(secret), await isCached(second), await isCached(kept)]).toEqual([false, false, true]);
        expect(await cache.find(secret)).toBeUndefined();
        expect((await cache.find(second))?.holder.accountId).toBe(owner.account.id);
      });

      test('forgets all accounts when any may have changed', async () => {
        await cache.find(secret);
        cache.forget();
        expect(await isCached(secret)).toBe(false);
      });

      test('finds a secret that did not exist before', async () => {
        const { hash, ...row } = await store.kysely
          .selectFrom('key_secrets')
          .selectAll()
          .where('hash', '=', hashSecret(secret))
          .executeTakeFirstOrThrow();
        await store.kysely.deleteFrom('key_secrets').where('hash', '=', hash).execute();
        expect(await cache.find(secret)).toBeUndefined();
        expect(cache.find(secret)).toBeUndefined();
        await store.kysely
          .insertInto('key_secrets')
          .values({ hash, ...row })
          .execute();
        cache.forget([owner.account.id]);
        expect((await cache.find(secret))?.holder.keyId).toBe(keyId);
      });

      test('asks once for many requests at the same moment', async () => {
        const found = Array.from({ length: 5 }, () => cache.find(secret));
        expect(new Set(found).size).toBe(1);
        expect(await isCached(secret)).toBe(false);
        expect(await isCached(secret)).toBe(true);
      });

      test('does not keep what it read before a change', async () => {
        const reading = cache.find(secret);
        cache.forget([]);
        const later = cache.find(secret);
        expect(later).not.toBe(reading);
        cache.forget([]);
        await Promise.all([reading, later]);
        expect(await isCached(secret)).toBe(false);
        expect(await isCached(secret)).toBe(true);
      });
    });
  });
