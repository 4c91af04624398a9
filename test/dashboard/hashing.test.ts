import { expect, test } from 'bun:test';
import { hashPassword } from 'better-auth/crypto';
import { openAuth } from '../../src/dashboard/auth/auth.ts';
import { limitHashing, passwordHashing } from '../../src/dashboard/auth/hashing.ts';
import { openDashboard, PASSWORD } from './open-dashboard.ts';
import { describeStores, makeSqlite } from './stores.ts';

test('passwords are hashed two at a time, in order, and a flood is refused', async () => {
  const ends: (() => void)[] = [];
  const begun: string[] = [];
  const work = async (name: string): Promise<void> => {
    begun.push(name);
    await new Promise<void>((resolve) => ends.push(resolve));
  };
  const { hash, verify } = limitHashing({
    hash: async (password) => work(password).then(() => password),
    verify: async ({ password }) => work(password).then(() => false),
    isCurrent: () => true,
  });
  const all = Array.from({ length: 202 }, (_, index) => (index % 2 === 0 ? hash(`${index}`) : verify({ hash: '', password: `${index}` })));
  await expect(hash('too many')).rejects.toMatchObject({ code: 'unavailable' });
  for (let done = 0; done < all.length; done += 1) {
    expect(begun).toHaveLength(Math.min(all.length, done + 2));
    ends[done]?.();
    await all[done];
    await Bun.sleep(0);
  }
  expect(begun).toEqual(all.map((_, index) => `${index}`));
  expect(await all[2]).toBe('2');
});

test('a failure makes room for the next', async () => {
  const { hash } = limitHashing({
    hash: async () => Promise.reject(new Error('no memory')),
    verify: async () => true,
    isCurrent: () => true,
  });
  const results = await Promise.allSettled(Array.from({ length: 10 }, () => hash('x')));
  expect(results.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 'rejected'));
});

test('the authentication library hashes this way', async () => {
  const dashboard = await openDashboard(await makeSqlite());
  const auth = await openAuth(dashboard.dependencies);
  const { password } = await auth.library.$context;
  expect(password.hash).toBe(passwordHashing.hash);
  expect(password.verify).toBe(passwordHashing.verify);
  await auth.close();
  await dashboard.end();
});

test('hashes are Argon2id, take passwords of every kind, and are all different', async () => {
  const { hash, verify, isCurrent } = passwordHashing;
  for (const password of ['', 'correct horse battery', 'ﬁve \u0000 naïve \ud800', 'x'.repeat(256)]) {
    const [one, other] = [await hash(password), await hash(password)];
    expect(one).toStartWith('$argon2id$v=19$m=32768,t=2,p=1$');
    expect(one).not.toBe(other);
    expect(await verify({ hash: one, password })).toBeTrue();
    expect(await verify({ hash: one, password: `${password}!` })).toBeFalse();
    expect(isCurrent(one)).toBeTrue();
  }
  expect(await verify({ hash: await hash('nai\u0308ve'), password: 'na\u00efve' })).toBeTrue();
  expect(await verify({ hash: await hash('a\u0000b'), password: 'a\u0000c' })).toBeFalse();
});

test('hashes of other parameters and of earlier versions verify, but are not current', async () => {
  for (const hash of [
    await hashPassword(PASSWORD),
    await Bun.password.hash(PASSWORD, { algorithm: 'argon2id', memoryCost: 64, timeCost: 1 }),
  ]) {
    expect(await passwordHashing.verify({ hash, password: PASSWORD })).toBeTrue();
    expect(await passwordHashing.verify({ hash, password: 'something else' })).toBeFalse();
    expect(passwordHashing.isCurrent(hash)).toBeFalse();
  }
});

describeStores((makeStore) => {
  test('an earlier hash stays after a wrong password and is replaced after the right one', async () => {
    const dashboard = await openDashboard(await makeStore(), { hashing: passwordHashing });
    const { kysely } = dashboard.dependencies.database;
    await dashboard.signedUp('ada@example.com');
    await dashboard.signedUp('bob@example.com');
    const hashOf = async (email: string): Promise<string | null> => {
      const credentials = kysely.selectFrom('credentials').innerJoin('people', 'people.id', 'person_id');
      return (await credentials.select('password').where('email', '=', email).executeTakeFirstOrThrow()).password;
    };
    const old = await hashPassword(PASSWORD);
    await kysely.updateTable('credentials').set({ password: old }).execute();
    expect((await dashboard.browser().signIn('ada@example.com', 'wrong password')).status).toBe(401);
    expect((await dashboard.browser().signIn('ada@example.com', '')).status).toBe(401);
    expect((await dashboard.browser().signIn('nobody@example.com', '')).status).toBe(401);
    expect(await hashOf('ada@example.com')).toBe(old);
    expect((await dashboard.browser().signIn('ada@example.com')).status).toBe(200);
    const renewed = await hashOf('ada@example.com');
    expect(renewed).toStartWith('$argon2id$');
    expect((await dashboard.browser().signIn('ada@example.com')).status).toBe(200);
    expect(await hashOf('ada@example.com')).toBe(renewed);
    expect(await hashOf('bob@example.com')).toBe(old);
    await dashboard.end();
  });
});
