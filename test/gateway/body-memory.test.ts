import { describe, expect, test } from 'bun:test';
import { GatewayError } from '../../src/errors.ts';
import { holdBody, holdReply, type BytesHolder } from '../../src/gateway/body-memory.ts';
import { Call } from '../../src/gateway/call.ts';
import { closeCall } from '../../src/gateway/gate.ts';
import { HeldBytes } from '../../src/http/held-bytes.ts';
import { AccountPlaces } from '../../src/limits/account-places.ts';

const MEGABYTE = 1_000_000;

function holder(): BytesHolder {
  return { heldBytes: 0 };
}

describe('the memory for request bodies', () => {
  test('is enough for three of the largest bodies', () => {
    expect(new HeldBytes().max).toBeGreaterThan(3 * 20 * MEGABYTE);
  });

  test('is handed out until it is full, and becomes free when a request ends', () => {
    const held = new HeldBytes(10 * MEGABYTE);
    const [first, second] = [new Call('req_1', 0, new Request('http://gate'), { address: () => '' }), holder()];
    const gate = { calls: new Set([first]), accountPlaces: new AccountPlaces(), held };
    holdBody(first, 4 * MEGABYTE, held);
    holdBody(second, 6 * MEGABYTE, held);
    const third = holder();
    const take = (): void => holdBody(third, MEGABYTE, held);
    expect(take).toThrow(GatewayError);
    expect([third.heldBytes, held.total]).toEqual([0, 10 * MEGABYTE]);
    closeCall(gate, first);
    closeCall(gate, first);
    // A reply that is abandoned frees its bytes after the call has ended.
    holdReply(first, -MEGABYTE, held);
    expect(held.total).toBe(6 * MEGABYTE);
    expect(take).not.toThrow();
  });

  test('is there for short bodies when large ones have taken their share, and also ends', () => {
    const held = new HeldBytes(MEGABYTE);
    holdBody(holder(), MEGABYTE, held);
    for (let count = 0; count < 20; count += 1) holdBody(holder(), 50_000, held);
    expect(() => holdBody(holder(), 50_000, held)).toThrow('Too many large requests');
    expect(held.total).toBe(2 * MEGABYTE);
  });

  test('is shared with replies, which may take as much again', () => {
    const held = new HeldBytes(MEGABYTE);
    holdReply(holder(), 2 * MEGABYTE, held);
    expect(() => holdReply(holder(), 1, held)).toThrow('Too many large requests');
    expect(() => holdBody(holder(), 1, held)).toThrow('Too many large requests');
  });
});
