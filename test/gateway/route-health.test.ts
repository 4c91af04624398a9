import { beforeEach, describe, expect, test } from 'bun:test';
import { GatewayError, type ErrorName } from '../../src/errors.ts';
import { RouteHealth } from '../../src/gateway/route-health.ts';

const EAST = { provider: 'east', model: 'large' };
const WEST = { provider: 'west', model: 'large' };

describe('route health', () => {
  let nowMs: number;
  let events: string[];
  let health: RouteHealth;

  beforeEach(() => {
    nowMs = 0;
    events = [];
    const listener = {
      onPause: ({ provider }: { provider: string }, pauseMs: number) => void events.push(`${provider} out ${pauseMs}`),
      onResume: ({ provider }: { provider: string }) => void events.push(`${provider} back`),
    };
    health = new RouteHealth(listener, () => nowMs);
  });

  const fail = (times = 1, name: ErrorName = 'provider_error', retryAfterSeconds = 1): void => {
    for (let time = 0; time < times; time += 1) health.failed(EAST, new GatewayError(name, 'no', { retryAfterSeconds }));
  };

  test('pauses a route after five failures in a row, and no other route', () => {
    fail(4);
    expect(health.mayTry(EAST)).toBeTrue();
    fail();
    expect(health.mayTry(EAST)).toBeFalse();
    expect(health.mayTry(WEST)).toBeTrue();
    expect(health.mayTry({ ...EAST, model: 'small' })).toBeTrue();
    expect(health.listPaused()).toEqual([EAST]);
    expect(events).toEqual(['east out 10000']);
  });

  test('restarts the count of failures in a row after an answer', () => {
    for (let round = 0; round < 3; round += 1) {
      fail(4);
      health.answered(EAST);
    }
    expect(health.mayTry(EAST)).toBeTrue();
  });

  test('pauses a route when half of twenty tries within ten seconds fail, but not earlier', () => {
    for (let round = 0; round < 9; round += 1) {
      fail();
      health.answered(EAST);
    }
    fail();
    expect(health.mayTry(EAST)).toBeTrue();
    fail();
    expect(health.mayTry(EAST)).toBeFalse();
  });

  test('ignores old failures', () => {
    for (let round = 0; round < 30; round += 1) {
      fail();
      health.answered(EAST);
      nowMs += 2000;
    }
    expect(events).toEqual([]);
  });

  test('lets one request probe a route after its pause, and doubles the pause with each failure up to five minutes', () => {
    fail(5);
    for (const pauseMs of [10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]) {
      nowMs += pauseMs - 1;
      expect([pauseMs, health.mayTry(EAST)]).toEqual([pauseMs, false]);
      nowMs += 1;
      expect([pauseMs, health.mayTry(EAST), health.mayTry(EAST)]).toEqual([pauseMs, true, false]);
      fail();
    }
    expect(events).toHaveLength(8);
    nowMs += 300_000;
    expect(health.mayTry(EAST)).toBeTrue();
    health.answered(EAST);
    expect([health.mayTry(EAST), health.mayTry(EAST)]).toEqual([true, true]);
    expect(events.at(-1)).toBe('east back');
    fail(5);
    expect(events.at(-1)).toBe('east out 10000');
  });

  test('lets the next request probe when the last one proved nothing', () => {
    fail(5);
    nowMs += 10_000;
    expect(health.mayTry(EAST)).toBeTrue();
    health.inconclusive(EAST);
    expect(health.mayTry(EAST)).toBeTrue();
    fail(1, 'provider_refused');
    expect(health.mayTry(EAST)).toBeTrue();
  });

  test('does not extend the pause for failures of requests already in progress', () => {
    fail(50);
    expect(events).toEqual(['east out 10000']);
    nowMs += 10_000;
    expect(health.mayTry(EAST)).toBeTrue();
  });

  test('rests a route after a 429 for as long as it says, and does not count it as a failure', () => {
    fail(10, 'provider_rate_limited', 7);
    expect(health.mayTry(EAST)).toBeFalse();
    health.answered(EAST);
    expect(health.mayTry(EAST)).toBeFalse();
    nowMs += 7000;
    expect([health.mayTry(EAST), health.mayTry(EAST)]).toEqual([true, true]);
    fail(1, 'provider_rate_limited', 3600);
    nowMs += 300_000;
    expect(health.mayTry(EAST)).toBeTrue();
    expect(events).toEqual([]);
  });

  test('never pauses a route for refused requests', () => {
    fail(100, 'provider_refused');
    expect([health.mayTry(EAST), health.listPaused()]).toEqual([true, []]);
  });
});
