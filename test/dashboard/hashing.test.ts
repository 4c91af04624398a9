import { expect, test } from 'bun:test';
import { openAuth } from '../../src/dashboard/auth/auth.ts';
import { limitHashing, passwordHashing } from '../../src/dashboard/auth/hashing.ts';
import { openDashboard } from './open-dashboard.ts';
import { makeSqlite } from './stores.ts';

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
  const { hash } = limitHashing({ hash: async () => Promise.reject(new Error('no memory')), verify: async () => true });
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
