import { afterEach, expect, setSystemTime, test } from 'bun:test';
import { Call } from '../../src/gateway/gate.ts';

afterEach(() => void setSystemTime());

test('a call takes as long as it does, also when the clock is set back meanwhile', async () => {
  const request = new Request('http://127.0.0.1/v1/chat/completions', { method: 'POST' });
  const call = new Call('req_1', Date.now(), request, { setIdleTimeout: () => undefined, address: () => '127.0.0.1' });
  setSystemTime(Date.now() - 3_600_000);
  await Bun.sleep(20);
  expect(call.durationMs).toBeWithin(15, 5000);
});

test('a connection whose answer is long in coming is kept open, and not for ever', () => {
  const idleSeconds: number[] = [];
  const setIdleTimeout = (seconds: number): void => void idleSeconds.push(seconds);
  const call = new Call('req_1', Date.now(), new Request('http://127.0.0.1/'), { setIdleTimeout, address: () => '127.0.0.1' });
  const beganAtMs = performance.now();
  for (const afterMs of [25, 29_000, 30_025, 30_050, 60_050, 90_075]) call.watch(beganAtMs + afterMs);
  expect(idleSeconds).toEqual([75, 75, 75]);
});
