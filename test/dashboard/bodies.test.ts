import { describe, expect, test } from 'bun:test';
import { Bodies } from '../../src/dashboard/bodies.ts';
import { HeldBytes } from '../../src/http/held-bytes.ts';

const MEGABYTE = 1024 * 1024;

/** A request whose body arrives in these chunks. It ends only if told to. */
function sending(pieces: readonly number[], { ends = true } = {}): Request {
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const bytes of pieces) controller.enqueue(new Uint8Array(bytes).fill(120));
      if (ends) controller.close();
    },
  });
  return new Request('http://gate.test/api/keys', { method: 'POST', body });
}

function whole(bytes: number): Request {
  return new Request('http://gate.test/api/keys', { method: 'POST', body: 'x'.repeat(bytes) });
}

describe('the body of a request to the dashboard', () => {
  test('is read whole, however it is split', async () => {
    const read = await new Bodies().read(sending([3, 0, 1000, 1]));
    expect(Buffer.from(read as Uint8Array).toString()).toBe('x'.repeat(1004));
    expect(await new Bodies().read(new Request('http://gate.test/api/keys'))).toBeUndefined();
  });

  test('of more than a megabyte is refused, with or without a content length', async () => {
    expect(await new Bodies().read(whole(MEGABYTE))).toHaveLength(MEGABYTE);
    expect(await new Bodies().read(whole(MEGABYTE + 1))).toBe('too_large');
    expect(await new Bodies().read(sending([MEGABYTE, 1]))).toBe('too_large');
  });

  test('of very many small chunks is refused, because each takes time and memory', async () => {
    expect(await new Bodies().read(sending(Array.from({ length: 10_000 }, () => 1)))).toHaveLength(10_000);
    expect(await new Bodies().read(sending(Array.from({ length: 10_001 }, () => 1)))).toBe('too_large');
  });

  test('that does not arrive in time is refused', async () => {
    expect(await new Bodies({ waitMs: 20 }).read(sending([10], { ends: false }))).toBe('too_slow');
  });

  test('counts towards the memory limit until it is released, and not at all if refused', async () => {
    const bodies = new Bodies({ roomBytes: 2 * MEGABYTE, waitMs: 20 });
    for (let turn = 0; turn < 5; turn += 1) {
      expect(await bodies.read(sending([MEGABYTE, 1]))).toBe('too_large');
      expect(await bodies.read(sending([MEGABYTE - 1], { ends: false }))).toBe('too_slow');
    }
    const first = await bodies.read(whole(MEGABYTE));
    expect(await bodies.read(whole(MEGABYTE))).toHaveLength(MEGABYTE);
    expect(await bodies.read(whole(100_000))).toBe('no_room');
    expect(await bodies.read(whole(10_000))).toHaveLength(10_000);
    bodies.release(first as Uint8Array<ArrayBuffer>);
    expect(await bodies.read(whole(100_000))).toHaveLength(100_000);
  });

  test('counts with the bodies of all other requests, and strangers cannot take all of their memory', async () => {
    const held = new HeldBytes(4 * MEGABYTE);
    const bodies = new Bodies({ held });
    const first = await bodies.read(whole(MEGABYTE));
    expect(held.total).toBe(MEGABYTE);
    expect(await bodies.read(whole(100_000))).toBe('no_room');
    expect(held.total).toBe(MEGABYTE);
    bodies.release(first as Uint8Array<ArrayBuffer>);
    expect(held.total).toBe(0);
    held.add(8 * MEGABYTE);
    expect(await bodies.read(whole(10))).toBe('no_room');
  });

  test('is refused even if it is short when there are very many', async () => {
    const bodies = new Bodies({ roomBytes: 100_000 });
    for (let count = 0; count < 20; count += 1) expect(await bodies.read(whole(10_000))).toHaveLength(10_000);
    expect(await bodies.read(whole(10_000))).toBe('no_room');
  });
});
