import { expect, test } from 'bun:test';
import { ConnectionCount } from '../../src/http/connection-count.ts';

const CLIENT = '::ffff:93.184.216.34';

test('one address of the internet has a limit, and those of private networks do not', () => {
  const count = new ConnectionCount();
  const accepted = (address: string): number => Array.from({ length: 1100 }, () => count.add(address)).filter(Boolean).length;
  expect(accepted(CLIENT)).toBe(1024);
  expect(accepted('10.0.0.1')).toBe(1100);
  expect(accepted('127.0.0.1')).toBe(1100);
  for (let gone = 0; gone < 77; gone += 1) count.remove(CLIENT);
  expect(count.add(CLIENT)).toBe(true);
  expect(count.add(CLIENT)).toBe(false);
});

test('all together leave room for the connections to providers', () => {
  const count = new ConnectionCount(328);
  expect(Array.from({ length: 101 }, () => count.add('127.0.0.1')).filter(Boolean)).toHaveLength(100);
  count.remove('127.0.0.1');
  expect(count.add('127.0.0.1')).toBe(false);
  count.remove('127.0.0.1');
  count.remove('127.0.0.1');
  expect(count.add('127.0.0.1')).toBe(true);
});
