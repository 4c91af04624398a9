import { describe, expect, test } from 'bun:test';
import { GatewayError } from '../../src/errors.ts';
import { TOTAL_BYTES_MAX, reserveMemory } from '../../src/gateway/body-memory.ts';

const MEGABYTE = 1_000_000;

describe('the memory reserved for request bodies', () => {
  test('is enough for three of the largest bodies', () => {
    expect(TOTAL_BYTES_MAX).toBeGreaterThan(3 * 20 * MEGABYTE);
  });

  test('is handed out until it is full, and becomes free when a request ends', () => {
    const [first = { bodyBytes: 0 }, second = { bodyBytes: 0 }, third = { bodyBytes: 0 }] = holders(3);
    const all = new Set([first, second, third]);
    reserveMemory(first, 4 * MEGABYTE, all, 10 * MEGABYTE);
    reserveMemory(second, 6 * MEGABYTE, all, 10 * MEGABYTE);
    const take = (): void => reserveMemory(third, MEGABYTE, all, 10 * MEGABYTE);
    expect(take).toThrow(GatewayError);
    expect(third.bodyBytes).toBe(0);
    all.delete(first);
    expect(take).not.toThrow();
  });

  test('counts a growing body once', () => {
    const [only = { bodyBytes: 0 }] = holders(1);
    for (let bytes = MEGABYTE; bytes <= 10 * MEGABYTE; bytes += MEGABYTE) reserveMemory(only, bytes, [only], 10 * MEGABYTE);
    expect(() => reserveMemory(only, 11 * MEGABYTE, [only], 10 * MEGABYTE)).toThrow('Too many large requests');
  });

  test('is always available for short bodies', () => {
    const all = holders(1000);
    for (const holder of all) reserveMemory(holder, 50_000, all, MEGABYTE);
    expect(all.every(({ bodyBytes }) => bodyBytes === 50_000)).toBeTrue();
  });
});

function holders(count: number): { bodyBytes: number }[] {
  return Array.from({ length: count }, () => ({ bodyBytes: 0 }));
}
