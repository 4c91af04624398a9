import { describe, expect, test } from 'bun:test';
import { hashSecret, isWellFormed, makeSecret, shownParts } from '../../src/accounts/key-secret.ts';

describe('key secrets', () => {
  test('have our prefix, 256 bits in base 62, and a checksum', () => {
    expect(makeSecret()).toMatch(/^sk-tg-[0-9A-Za-z]{43}[0-9A-Za-z]{6}$/);
    expect(new Set(Array.from({ length: 1000 }, makeSecret)).size).toBe(1000);
  });

  test('detect any single changed character without a look-up', () => {
    const secret = makeSecret();
    expect(isWellFormed(secret)).toBe(true);
    for (let index = 0; index < secret.length; index += 1) {
      const other = secret[index] === 'x' ? 'y' : 'x';
      expect(isWellFormed(secret.slice(0, index) + other + secret.slice(index + 1))).toBe(false);
    }
  });

  test('are neither shown nor stored in full', () => {
    const secret = makeSecret();
    const { prefix, lastFour } = shownParts(secret);
    expect(secret.startsWith(prefix) && secret.endsWith(lastFour)).toBe(true);
    expect(prefix.length + lastFour.length).toBeLessThan(secret.length / 3);
    expect(hashSecret(secret)).toMatch(/^[0-9a-f]{64}$/);
  });
});
