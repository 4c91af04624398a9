import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashSecret, isWellFormed } from '../../src/accounts/key-secret.ts';
import { KEYS_MAX } from '../../src/accounts/keys.ts';
import { asNanos } from '../../src/ledger/money.ts';
import { readSpend } from '../../src/usage/key-usage.ts';
import { QUARTER_HOUR_MS } from '../../src/durations.ts';
import { Owner } from './owner.ts';
import { STORES, type OpenStore } from './stores.ts';
import { until } from '../until.ts';

const HOUR_MS = 3_600_000;
/** PostgreSQL allows 65,535 parameters, SQLite fewer. */
const MANY_KEYS = 66_000;

for (const { name: storeName, isMissing, open } of STORES)
  describe.skipIf(isMissing)(storeName, () => {
    let store: OpenStore;
    let owner: Owner;
    beforeAll(async () => {
      store = await open();
    });
    beforeEach(async () => {
      owner = await Owner.at(store);
    });
    afterAll(() => store.close());

    test('an account cannot exceed its maximum number of keys, even if many are created at once', async () => {
      const rows = Array.from({ length: KEYS_MAX - 2 }, (_, index) => ({
        id: `${owner.account.id}-${index}`,
        account_id: owner.account.id,
        name: 'one of many',
        created_at: index,
      }));
      await store.kysely.insertInto('api_keys').values(rows).execute();
      const make = () => owner.keys.createWithinLimit(owner.account.id, { name: 'at once' }, 'owner@example.com');
      const made = await Promise.all(Array.from({ length: 6 }, make));
      expect(made.filter((fresh) => fresh !== undefined)).toHaveLength(2);
      expect(await owner.keys.list(owner.account.id)).toHaveLength(KEYS_MAX);
    });

    describe('a new key', () => {
      test('has a well-formed secret, of which the start and end are shown', async () => {
        const fresh = await owner.keys.create(owner.account.id, { name: 'first' });
        expect(isWellFormed(fresh.secret)).toBe(true);
        expect(fresh.secret.startsWith(fresh.prefix) && fresh.secret.endsWith(fresh.lastFour)).toBe(true);
        expect(fresh.lastFour).toHaveLength(4);
      });

      test('is found by the hash of its secret, with its account and no limits', async () => {
        const { id, secret } = await owner.keys.create(owner.account.id, { name: 'first' });
        expect(await owner.holderOf(secret)).toEqual({
          keyId: id,
          accountId: owner.account.id,
          accountStatus: 'active',
          isDisabled: false,
          addressRanges: undefined,
          name: 'first',
          atLimit: 'stop',
          limitZone: 'UTC',
        });
      });

      test('keeps its settings', async () => {
        const settings = {
          name: 'a',
          models: ['a/b', 'c'],
          deniedModels: ['d'],
          addresses: ['203.0.113.0/24', '2001:db8::1'],
          tags: ['team=blue', 'nightly'],
          requestsPerMinute: 1,
          tokensPerMinute: 2,
          concurrent: 3,
          expiresAtMs: Date.now() + HOUR_MS,
        };
        const { secret } = await owner.keys.create(owner.account.id, settings);
        expect(await owner.holderOf(secret)).toMatchObject(settings);
        expect((await owner.keys.list(owner.account.id))[0]).toMatchObject(settings);
      });

      test('with an empty list of models may call none rather than all', async () => {
        const { secret } = await owner.keys.create(owner.account.id, { name: 'a', models: [] });
        expect((await owner.holderOf(secret))?.models).toEqual([]);
      });

      test('expires at its time', async () => {
        const past = await owner.keys.create(owner.account.id, { name: 'past', expiresAtMs: Date.now() - 1 });
        const future = await owner.keys.create(owner.account.id, { name: 'future', expiresAtMs: Date.now() + HOUR_MS });
        expect([await owner.isAlive(past.secret), await owner.isAlive(future.secret)]).toEqual([false, true]);
      });

      test('shows that its account is suspended', async () => {
        const { secret } = await owner.keys.create(owner.account.id, { name: 'a' });
        await owner.accounts.setStatus(owner.account, 'suspended');
        expect((await owner.holderOf(secret))?.accountStatus).toBe('suspended');
        await owner.accounts.setStatus(owner.account, 'active');
        expect((await owner.holderOf(secret))?.accountStatus).toBe('active');
      });

      test('needs an account', async () => {
        let failure: unknown;
        await owner.keys.create('acct_nobody', { name: 'a' }).catch((error: unknown) => (failure = error));
        expect(failure).toBeInstanceOf(Error);
        expect(await owner.keys.list('acct_nobody')).toEqual([]);
      });
    });

    describe('the list of keys', () => {
      test('has the keys of one account, oldest first, without deleted ones and without secrets', async () => {
        const other = await Owner.at(store);
        await owner.keys.create(other.account.id, { name: 'other' });
        const made = [];
        for (const name of ['first', 'second', 'third']) {
          made.push(await owner.keys.create(owner.account.id, { name }));
          await Bun.sleep(2);
        }
        await owner.keys.delete(owner.by(made[1]?.id ?? ''));
        const listed = await owner.keys.list(owner.account.id);
        expect(listed.map((key) => key.name)).toEqual(['first', 'third']);
        expect(listed.map((key) => key.secrets)).toMatchObject(
          [made[0], made[2]].map((fresh) => [{ prefix: fresh?.prefix, lastFour: fresh?.lastFour }]),
        );
        for (const { secret } of made) expect(JSON.stringify(listed)).not.toContain(secret);
      });

      test('shows both secrets while a rotation overlaps, the newest first', async () => {
        const { id, lastFour } = await owner.keys.create(owner.account.id, { name: 'a' });
        const second = await owner.rotate(id, HOUR_MS);
        const [key] = await owner.keys.list(owner.account.id);
        expect(key?.secrets.map((secret) => secret.lastFour)).toEqual([second.slice(-4), lastFour]);
        expect(key?.secrets[0]?.expiresAtMs).toBeUndefined();
        expect(key?.secrets[1]?.expiresAtMs).toBeWithin(Date.now() + HOUR_MS - 10_000, Date.now() + HOUR_MS + 1);
      });

      test('leaves out expired secrets', async () => {
        const { id } = await owner.keys.create(owner.account.id, { name: 'a' });
        const second = await owner.rotate(id, 0);
        const [key] = await owner.keys.list(owner.account.id);
        expect(key?.secrets.map((secret) => secret.lastFour)).toEqual([second.slice(-4)]);
      });
    });

    test('an account with more keys than a statement has parameters gets its list and spending soon', async () => {
      const { id } = owner.account;
      const numbers = sql`WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${sql.lit(MANY_KEYS)})`;
      await sql`INSERT INTO api_keys (id, account_id, name, created_at)
        ${numbers} SELECT 'key_many_' || n, ${sql.lit(id)}, 'one of many', n FROM numbers`.execute(store.kysely);
      const quarterHour = Math.floor(Date.now() / QUARTER_HOUR_MS) * QUARTER_HOUR_MS;
      await sql`INSERT INTO usage_rollups (account_id, key_id, model, provider, quarter_hour, requests, errors, input_tokens,
          cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, cost, first_token_ms, first_token_count, duration_ms)
        ${numbers} SELECT ${sql.lit(id)}, 'key_many_' || n, 'a/b', 'a', ${sql.lit(quarterHour)}, 1, 0, 1, 0, 0, 1, 0, n, 0, 0, 1 FROM numbers`.execute(
        store.kysely,
      );
      expect(await owner.keys.list(id)).toHaveLength(MANY_KEYS);
      const spend = await readSpend(store, id, { zone: 'UTC' });
      expect(spend.get(`key_many_${MANY_KEYS}`)).toMatchObject({ requestsLastDay: 1, total: asNanos(BigInt(MANY_KEYS)) });
      await store.kysely.deleteFrom('usage_rollups').where('account_id', '=', id).execute();
      await store.kysely.deleteFrom('api_keys').where('account_id', '=', id).execute();
    }, 120_000);

    describe('a rotation', () => {
      test('without an overlap expires the old secret at once', async () => {
        const { id, secret } = await owner.keys.create(owner.account.id, { name: 'a' });
        const second = await owner.rotate(id, 0);
        expect(second).not.toBe(secret);
        expect([await owner.isAlive(secret), await owner.isAlive(second)]).toEqual([false, true]);
      });

      test('with an overlap accepts both secrets, and then only the new one', async () => {
        const { id, secret } = await owner.keys.create(owner.account.id, { name: 'a', models: ['a/b'] });
        const second = await owner.rotate(id, 400);
        expect([await owner.isAlive(secret), await owner.isAlive(second)]).toEqual([true, true]);
        expect(await owner.holderOf(second)).toMatchObject({ keyId: id, models: ['a/b'] });
        await until(async () => !(await owner.isAlive(secret)));
        expect(await owner.isAlive(second)).toBe(true);
      });

      test('after another does not extend the first secret', async () => {
        const { id, secret } = await owner.keys.create(owner.account.id, { name: 'a' });
        const second = await owner.rotate(id, 1000);
        const endsAtMs = (await owner.holderOf(secret))?.expiresAtMs;
        const third = await owner.rotate(id, HOUR_MS);
        expect((await owner.holderOf(secret))?.expiresAtMs).toBe(endsAtMs);
        expect([await owner.isAlive(second), await owner.isAlive(third)]).toEqual([true, true]);
      });

      test('after another, with a shorter overlap, expires the first secret sooner', async () => {
        const { id, secret } = await owner.keys.create(owner.account.id, { name: 'a' });
        const second = await owner.rotate(id, HOUR_MS);
        await owner.rotate(id, 0);
        expect([await owner.isAlive(secret), await owner.isAlive(second)]).toEqual([false, false]);
      });

      test('does not extend the expiry of its key', async () => {
        const expiresAtMs = Date.now() + 1000;
        const { id, secret } = await owner.keys.create(owner.account.id, { name: 'a', expiresAtMs });
        const second = await owner.rotate(id, HOUR_MS);
        expect((await owner.holderOf(secret))?.expiresAtMs).toBe(expiresAtMs);
        expect((await owner.holderOf(second))?.expiresAtMs).toBe(expiresAtMs);
      });

      test('of an unknown or deleted key changes nothing', async () => {
        const { id } = await owner.keys.create(owner.account.id, { name: 'a' });
        await owner.keys.delete(owner.by(id));
        expect(await owner.keys.rotate(owner.by(id), 0)).toBe('no_such_key');
        expect(await owner.keys.rotate(owner.by('key_unknown'), 0)).toBe('no_such_key');
        expect(await owner.keys.list(owner.account.id)).toEqual([]);
      });
    });

    describe('a deletion', () => {
      test('expires every secret of the key at once, and of no other key', async () => {
        const first = await owner.keys.create(owner.account.id, { name: 'a' });
        const other = await owner.keys.create(owner.account.id, { name: 'b' });
        const second = await owner.rotate(first.id, HOUR_MS);
        expect(await owner.keys.delete(owner.by(first.id))).toBe(true);
        expect([await owner.holderOf(first.secret), await owner.holderOf(second)]).toEqual([undefined, undefined]);
        expect(await owner.isAlive(other.secret)).toBe(true);
      });

      test('succeeds only once', async () => {
        const { id } = await owner.keys.create(owner.account.id, { name: 'a' });
        expect([
          await owner.keys.delete(owner.by(id)),
          await owner.keys.delete(owner.by(id)),
          await owner.keys.delete(owner.by('key_unknown')),
        ]).toEqual([true, false, false]);
      });
    });

    if (storeName === 'SQLite')
      test('the database files contain hashes and no secret', async () => {
        const { id, secret } = await owner.keys.create(owner.account.id, { name: 'a' });
        const secrets = [secret, await owner.rotate(id, HOUR_MS), await owner.rotate(id, 0)];
        const contents = readdirSync(store.folder)
          .map((file) => readFileSync(join(store.folder, file), 'latin1'))
          .join('');
        for (const each of secrets) {
          expect(contents.includes(hashSecret(each))).toBe(true);
          expect(contents.includes(each)).toBe(false);
          // The start and the end may be shown; the part between must not be stored.
          expect(contents.includes(each.slice(12, -6))).toBe(false);
        }
      });
  });
