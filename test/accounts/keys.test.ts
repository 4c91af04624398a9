import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { Kysely } from 'kysely';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Accounts, type Account } from '../../src/accounts/accounts.ts';
import { hashSecret, isWellFormed } from '../../src/accounts/key-secret.ts';
import { Keys, type KeyHolder } from '../../src/accounts/keys.ts';
import { openKysely } from '../../src/database/kysely.ts';
import { migrate } from '../../src/database/migrate.ts';
import type { Tables } from '../../src/database/tables.ts';
import { asNanos } from '../../src/ledger/money.ts';

const HOUR_MS = 3_600_000;

let folder: string;
let database: Kysely<Tables>;
let accounts: Accounts;
let keys: Keys;
let account: Account;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-keys-'));
  database = openKysely(join(folder, 'tollgate.db'));
  await migrate(database, 'sqlite');
  accounts = new Accounts(database);
  keys = new Keys(database);
  account = await makeAccount('owner@example.com');
});
afterEach(async () => {
  await database.destroy();
  rmSync(folder, { recursive: true });
});

async function makeAccount(email: string): Promise<Account> {
  const made = await accounts.create(email, false);
  if (made === undefined) throw new Error('the address is taken');
  return made;
}

function holderOf(secret: string): Promise<KeyHolder | undefined> {
  return keys.findHolder(hashSecret(secret));
}

/** Whether the gate would let this secret in now. */
async function isAlive(secret: string): Promise<boolean> {
  const holder = await holderOf(secret);
  return holder !== undefined && (holder.expiresAtMs === undefined || holder.expiresAtMs > Date.now());
}

async function rotate(id: string, overlapMs: number): Promise<string> {
  // Secrets are told apart by the millisecond in which they were made.
  await Bun.sleep(2);
  const fresh = await keys.rotate(id, overlapMs);
  if (fresh === undefined) throw new Error(`there is no key ${id}`);
  return fresh.secret;
}

describe('a key that was made', () => {
  test('has a secret of our form, and shows its beginning and end', async () => {
    const fresh = await keys.create(account.id, { name: 'first' });
    expect(isWellFormed(fresh.secret)).toBe(true);
    expect(fresh.secret.startsWith(fresh.prefix) && fresh.secret.endsWith(fresh.lastFour)).toBe(true);
    expect(fresh.lastFour).toHaveLength(4);
  });

  test('is found by the hash of its secret, with the account and without limits of its own', async () => {
    const { id, secret } = await keys.create(account.id, { name: 'first' });
    expect(await holderOf(secret)).toEqual({
      keyId: id,
      accountId: account.id,
      accountStatus: 'active',
      name: 'first',
      models: undefined,
      requestsPerMinute: undefined,
      tokensPerMinute: undefined,
      concurrent: undefined,
      expiresAtMs: undefined,
    });
  });

  test('keeps what its maker fixed', async () => {
    const settings = {
      name: 'a',
      models: ['a/b', 'c'],
      requestsPerMinute: 1,
      tokensPerMinute: 2,
      concurrent: 3,
      expiresAtMs: Date.now() + HOUR_MS,
    };
    const { secret } = await keys.create(account.id, settings);
    expect(await holderOf(secret)).toMatchObject(settings);
    expect((await keys.list(account.id))[0]).toMatchObject(settings);
  });

  test('with an empty list of models may call none, which is not the same as all', async () => {
    const { secret } = await keys.create(account.id, { name: 'a', models: [] });
    expect((await holderOf(secret))?.models).toEqual([]);
  });

  test('ends when its time has come', async () => {
    const past = await keys.create(account.id, { name: 'past', expiresAtMs: Date.now() - 1 });
    const future = await keys.create(account.id, { name: 'future', expiresAtMs: Date.now() + HOUR_MS });
    expect([await isAlive(past.secret), await isAlive(future.secret)]).toEqual([false, true]);
  });

  test('tells that its account is suspended', async () => {
    const { secret } = await keys.create(account.id, { name: 'a' });
    await accounts.setStatus(account, 'suspended');
    expect((await holderOf(secret))?.accountStatus).toBe('suspended');
    await accounts.setStatus(account, 'active');
    expect((await holderOf(secret))?.accountStatus).toBe('active');
  });

  test('needs an account', async () => {
    let failure: unknown;
    await keys.create('acct_nobody', { name: 'a' }).catch((error: unknown) => (failure = error));
    expect(failure).toBeInstanceOf(Error);
    expect(await keys.list('acct_nobody')).toEqual([]);
  });
});

describe('the list of keys', () => {
  test('has the living keys of one account, oldest first, without their secrets', async () => {
    const other = await makeAccount('other@example.com');
    await keys.create(other.id, { name: 'other' });
    const made = [];
    for (const name of ['first', 'second', 'third']) {
      made.push(await keys.create(account.id, { name }));
      await Bun.sleep(2);
    }
    await keys.delete(made[1]?.id ?? '');
    const listed = await keys.list(account.id);
    expect(listed.map((key) => key.name)).toEqual(['first', 'third']);
    expect(listed.map((key) => key.secrets)).toEqual(
      [made[0], made[2]].map((fresh) => [{ prefix: fresh?.prefix ?? '', lastFour: fresh?.lastFour ?? '', expiresAtMs: undefined }]),
    );
    for (const { secret } of made) expect(JSON.stringify(listed)).not.toContain(secret);
  });

  test('shows both secrets while a rotation overlaps, the newest first', async () => {
    const { id, lastFour } = await keys.create(account.id, { name: 'a' });
    const second = await rotate(id, HOUR_MS);
    const [key] = await keys.list(account.id);
    expect(key?.secrets.map((secret) => secret.lastFour)).toEqual([second.slice(-4), lastFour]);
    expect(key?.secrets[0]?.expiresAtMs).toBeUndefined();
    expect(key?.secrets[1]?.expiresAtMs).toBeWithin(Date.now() + HOUR_MS - 10_000, Date.now() + HOUR_MS + 1);
  });

  test('leaves out secrets that have ended', async () => {
    const { id } = await keys.create(account.id, { name: 'a' });
    const second = await rotate(id, 0);
    const [key] = await keys.list(account.id);
    expect(key?.secrets.map((secret) => secret.lastFour)).toEqual([second.slice(-4)]);
  });
});

describe('a rotation', () => {
  test('without an overlap ends the old secret at once', async () => {
    const { id, secret } = await keys.create(account.id, { name: 'a' });
    const second = await rotate(id, 0);
    expect(second).not.toBe(secret);
    expect([await isAlive(secret), await isAlive(second)]).toEqual([false, true]);
  });

  test('with an overlap lets both secrets in, and then only the new one', async () => {
    const { id, secret } = await keys.create(account.id, { name: 'a', models: ['a/b'] });
    const second = await rotate(id, 400);
    expect([await isAlive(secret), await isAlive(second)]).toEqual([true, true]);
    expect(await holderOf(second)).toMatchObject({ keyId: id, models: ['a/b'] });
    await Bun.sleep(420);
    expect([await isAlive(secret), await isAlive(second)]).toEqual([false, true]);
  });

  test('that follows another does not prolong the first secret', async () => {
    const { id, secret } = await keys.create(account.id, { name: 'a' });
    const second = await rotate(id, 1000);
    const endsAtMs = (await holderOf(secret))?.expiresAtMs;
    const third = await rotate(id, HOUR_MS);
    expect((await holderOf(secret))?.expiresAtMs).toBe(endsAtMs);
    expect([await isAlive(second), await isAlive(third)]).toEqual([true, true]);
  });

  test('that follows another with a shorter overlap ends the first secret sooner', async () => {
    const { id, secret } = await keys.create(account.id, { name: 'a' });
    const second = await rotate(id, HOUR_MS);
    await rotate(id, 0);
    expect([await isAlive(secret), await isAlive(second)]).toEqual([false, false]);
  });

  test('does not prolong the life of its key', async () => {
    const expiresAtMs = Date.now() + 1000;
    const { id, secret } = await keys.create(account.id, { name: 'a', expiresAtMs });
    const second = await rotate(id, HOUR_MS);
    expect((await holderOf(secret))?.expiresAtMs).toBe(expiresAtMs);
    expect((await holderOf(second))?.expiresAtMs).toBe(expiresAtMs);
  });

  test('of a key that is not there changes nothing', async () => {
    const { id } = await keys.create(account.id, { name: 'a' });
    await keys.delete(id);
    const before = await keys.changeCounter();
    expect(await keys.rotate(id, 0)).toBeUndefined();
    expect(await keys.rotate('key_unknown', 0)).toBeUndefined();
    expect(await keys.changeCounter()).toBe(before);
  });
});

describe('a deletion', () => {
  test('ends every secret of the key at once, and only of that key', async () => {
    const first = await keys.create(account.id, { name: 'a' });
    const other = await keys.create(account.id, { name: 'b' });
    const second = await rotate(first.id, HOUR_MS);
    expect(await keys.delete(first.id)).toBe(true);
    expect([await holderOf(first.secret), await holderOf(second)]).toEqual([undefined, undefined]);
    expect(await isAlive(other.secret)).toBe(true);
  });

  test('happens once', async () => {
    const { id } = await keys.create(account.id, { name: 'a' });
    expect([await keys.delete(id), await keys.delete(id), await keys.delete('key_unknown')]).toEqual([true, false, false]);
  });
});

describe('the counter of changes', () => {
  test.each<[string, (keyId: string) => Promise<unknown>]>([
    ['an account is made', () => accounts.create('new@example.com', false)],
    ['an account is suspended', () => accounts.setStatus(account, 'suspended')],
    ['a key is made', () => keys.create(account.id, { name: 'b' })],
    ['a key is rotated', (keyId) => keys.rotate(keyId, 0)],
    ['a key is deleted', (keyId) => keys.delete(keyId)],
  ])('grows when %s', async (_, change) => {
    const { id } = await keys.create(account.id, { name: 'a' });
    const before = await keys.changeCounter();
    await change(id);
    expect(await keys.changeCounter()).toBeGreaterThan(before);
  });

  test('stays when credit is given or taken: no server remembers a balance', async () => {
    const before = await keys.changeCounter();
    await accounts.credit(account, asNanos(5n), { reason: 'test', actor: 'test' });
    await accounts.credit(account, asNanos(-5n), { reason: 'test', actor: 'test' });
    expect(await keys.changeCounter()).toBe(before);
  });

  test('grows for whoever else has the database open', async () => {
    const elsewhere = openKysely(join(folder, 'tollgate.db'));
    const before = await new Keys(elsewhere).changeCounter();
    await keys.create(account.id, { name: 'a' });
    expect(await new Keys(elsewhere).changeCounter()).toBeGreaterThan(before);
    await elsewhere.destroy();
  });

  test('stays when somebody only looks, or does what was done', async () => {
    const { id, secret } = await keys.create(account.id, { name: 'a' });
    await keys.delete(id);
    const before = await keys.changeCounter();
    await holderOf(secret);
    await keys.list(account.id);
    await accounts.find(account.email);
    await accounts.create(account.email, true);
    await keys.delete(id);
    expect(await keys.changeCounter()).toBe(before);
  });
});

test('the files of the database hold hashes and no secret', async () => {
  const { id, secret } = await keys.create(account.id, { name: 'a' });
  const secrets = [secret, await rotate(id, HOUR_MS), await rotate(id, 0)];
  const contents = readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('');
  for (const each of secrets) {
    expect(contents.includes(hashSecret(each))).toBe(true);
    expect(contents.includes(each)).toBe(false);
    // Beginning and end are shown to people; what lies between is nobody's.
    expect(contents.includes(each.slice(12, -6))).toBe(false);
  }
});
