import { afterEach, expect, setSystemTime, test } from 'bun:test';
import { Call } from '../../src/gateway/gate.ts';

afterEach(() => void setSystemTime());

test('the duration of a call does not change when the system clock is set back', async () => {
  const request = new Request('http://127.0.0.1/v1/chat/completions', { method: 'POST' });
  const call = new Call('req_1', Date.now(), request, { setIdleTimeout: () => undefined, address: () => '127.0.0.1' });
  setSystemTime(Date.now() - 3_600_000);
  await Bun.sleep(20);
  expect(call.durationMs).toBeWithin(15, 5000);
});

test('a connection that waits long for its answer is kept open, with a finite timeout', () => {
  const idleSeconds: number[] = [];
  const setIdleTimeout = (seconds: number): void => void idleSeconds.push(seconds);
  const call = new Call('req_1', Date.now(), new Request('http://127.0.0.1/'), { setIdleTimeout, address: () => '127.0.0.1' });
  const beganAtMs = performance.now();
  for (const afterMs of [25, 29_000, 30_025, 30_050, 60_050, 90_075]) call.watch(beganAtMs + afterMs);
  expect(idleSeconds).toEqual([75, 75, 75]);
});
