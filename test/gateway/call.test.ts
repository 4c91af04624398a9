import { afterEach, expect, setSystemTime, test } from 'bun:test';
import { Call } from '../../src/gateway/call.ts';

afterEach(() => void setSystemTime());

test('the duration of a call does not change when the system clock is set back', async () => {
  const request = new Request('http://127.0.0.1/v1/chat/completions', { method: 'POST' });
  const call = new Call('req_1', Date.now(), request, { address: () => '127.0.0.1' });
  setSystemTime(Date.now() - 3_600_000);
  await Bun.sleep(20);
  expect(call.durationMs).toBeWithin(15, 5000);
});
